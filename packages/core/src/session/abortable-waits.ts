import { Cancel } from '../onion/cancel.ts'

/** Waits that reject at once on abort. Later errors are reported. */
export class AbortableWaits {
  readonly cancel = new Cancel()
  readonly #report: (error: unknown) => void

  constructor(report: (error: unknown) => void) {
    this.#report = report
  }

  until<T>(value: T | PromiseLike<T>): Promise<T> {
    const { cancel } = this
    return new Promise((resolve, reject) => {
      cancel.on(reject)
      const off = () => cancel.off(reject)
      const waiting = Promise.resolve(value)
      waiting.then(off, off)
      waiting.then(resolve, (error) => {
        reject(error)
        if (cancel.aborted && error !== cancel.reason) this.#report(error)
      })
    })
  }
}
