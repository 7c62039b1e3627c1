import type { RunControl } from '../journal/run-control.ts'

/** What the commands of a run do now. A process that stops hands a run over at once while all of them sleep. */
export class Activity {
  readonly #control: RunControl | undefined
  #sleeping = 0
  #busy = 0

  /** @param control the durable run, if it is one */
  constructor(control: RunControl | undefined) {
    this.#control = control
    if (control !== undefined) control.isIdle = () => this.#sleeping > 0 && this.#busy === 0
  }

  async whileBusy<T>(work: () => Promise<T>): Promise<T> {
    this.#busy++
    try {
      return await work()
    } finally {
      this.#busy--
      this.#control?.onIdle()
    }
  }

  async whileSleeping(wait: () => Promise<void>): Promise<void> {
    this.#sleeping++
    this.#control?.onIdle()
    try {
      await wait()
    } finally {
      this.#sleeping--
    }
  }
}
