import { isThenable } from '../errors/thenable.ts'
import { Cancel } from '../onion/cancel.ts'

/** Waits that reject at once on abort. Values that arrive after the abort are undone, and later errors are reported. */
export class AbortableWaits {
  readonly cancel = new Cancel()
  readonly #report: (error: unknown) => void

  constructor(report: (error: unknown) => void) {
    this.#report = report
  }

  /** @param undo called with a value that arrives after the abort */
  until<T>(value: T | PromiseLike<T>, undo?: (value: T) => unknown): Promise<T> {
    const { cancel } = this
    return new Promise((resolve, reject) => {
      cancel.on(reject)
      Promise.resolve(value).then(
        (value) => {
          if (cancel.aborted) return this.#undo(() => undo?.(value))
          cancel.off(reject)
          resolve(value)
        },
        (error) => {
          if (cancel.aborted) return this.#failed(error)
          cancel.off(reject)
          reject(error)
        },
      )
    })
  }

  #undo(undo: () => unknown): void {
    try {
      const undone = undo()
      if (isThenable(undone)) undone.then(undefined, (error) => this.#failed(error))
    } catch (error) {
      this.#failed(error)
    }
  }

  #failed(error: unknown): void {
    if (error !== this.cancel.reason) this.#report(error)
  }
}
