let tick: Promise<void> | undefined
const timers = new Map<number, Promise<void>>()

/** Resolves after the events of this tick of the event loop have arrived. All callers of a tick share one immediate. */
export function endOfTick(): Promise<void> {
  tick ??= new Promise((resolve) =>
    immediate(() => {
      tick = undefined
      resolve()
    }),
  )
  return tick
}

/** Resolves at a time of `performance.now()`. Callers of the same time share one timer. */
export function timeOf(at: number): Promise<void> {
  let timer = timers.get(at)
  if (timer === undefined) {
    timer = new Promise((resolve) =>
      setTimeout(() => {
        timers.delete(at)
        resolve()
      }, at - performance.now()),
    )
    timers.set(at, timer)
  }
  return timer
}

/** Runtimes other than Node may have no immediates. */
function immediate(fn: () => void): void {
  const { setImmediate: schedule = setTimeout } = globalThis as { setImmediate?: (fn: () => void) => unknown }
  schedule(fn)
}
