import type { Clock } from '@allium/core'

/** Rejects when the work takes longer. The work continues, and its later rejection is ignored. */
export function withTimeout<T>(work: Promise<T>, ms: number, clock: Clock): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => reject(new Error(`The audit sink took longer than ${ms} ms.`)))
    work.then(resolve, reject).finally(cancel)
  })
}
