import type { Clock } from './clock.ts'
import { followSignal } from './follow-signal.ts'

/** Waits `ms` on a clock. Rejects with the signal's reason when it aborts. With `idle`, the timer does not keep the process alive. */
export function delay(ms: number, clock: Clock, signal: AbortSignal, options: { idle?: boolean } = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    let release = () => {}
    const stop = clock.after(
      ms,
      () => {
        release()
        resolve()
      },
      options,
    )
    release = followSignal(signal, (reason) => {
      stop()
      reject(reason)
    })
  })
}
