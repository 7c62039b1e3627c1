import type { Clock } from './clock.ts'

/** Waits `ms` by a clock; rejects at once with the signal's reason when it aborts. */
export function wait(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const cancelled = () => {
      stop()
      reject(signal.reason)
    }
    const stop = clock.after(ms, () => {
      signal.removeEventListener('abort', cancelled)
      resolve()
    })
    signal.addEventListener('abort', cancelled, { once: true })
  })
}
