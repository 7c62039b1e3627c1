export interface Polling {
  /** Runs the task now, and soon again. */
  now(): void
  stop(): void
}

export interface PollingOptions {
  /** Milliseconds between two runs after a change. @default 2000 */
  fastest?: number
  /** Milliseconds that the pause grows to while nothing changes or the task fails. @default 20_000 */
  slowest?: number
}

/**
 * Polls with a task, which reports whether something changed. Polls soon after a change, and less and less often
 * otherwise. Stops while the tab is hidden, and polls immediately when the tab is shown or the connection is back.
 */
export function startPolling(
  task: () => Promise<boolean>,
  { fastest = 2000, slowest = 20_000 }: PollingOptions = {},
): Polling {
  let [pause, timer, isRunning, isDue, isStopped] = [fastest, 0, false, false, false]

  async function run(): Promise<void> {
    clearTimeout(timer)
    if (isStopped || document.hidden) return
    isDue = isRunning
    if (isRunning) return
    isRunning = true
    const changed = await task().catch(() => false)
    isRunning = false
    if (isDue) return run()
    pause = changed ? fastest : Math.min(pause * 1.5, slowest)
    if (!isStopped) timer = window.setTimeout(run, pause)
  }
  function now(): void {
    pause = fastest
    void run()
  }

  document.addEventListener('visibilitychange', now)
  addEventListener('online', now)
  now()
  return {
    now,
    stop() {
      isStopped = true
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', now)
      removeEventListener('online', now)
    },
  }
}

/** Runs a task until it succeeds, with growing pauses. Returns a function that stops it. */
export function retryUntilDone(task: () => Promise<void>, options: PollingOptions = {}): () => void {
  const polling = startPolling(async () => {
    await task()
    polling.stop()
    return true
  }, options)
  return polling.stop
}
