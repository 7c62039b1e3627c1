/** The real time between two looks, in milliseconds, and how many looks without activity make a run idle. */
const [pause, looks] = [5, 4]

/**
 * Finds out whether a run waits for something that only the replay can give. Work of another thread, such as WebCrypto, is on no queue of
 * the event loop, so a run is idle only after some real time without activity.
 */
export class Idleness {
  readonly #idle: () => void
  #activity = 0
  #seen = 0
  #quiet = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(idle: () => void) {
    this.#idle = idle
  }

  begin(): void {
    this.#timer = setTimeout(() => this.#look(), pause)
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  touch(): void {
    this.#activity++
  }

  /** Calls `then` once the run has reacted to something: after some rounds of the event loop without activity. */
  settled(then: () => void, rounds = 3): void {
    const before = this.#activity
    setImmediate(() => {
      if (this.#activity !== before) this.settled(then)
      else if (rounds > 1) this.settled(then, rounds - 1)
      else then()
    })
  }

  #look(): void {
    this.#quiet = this.#activity === this.#seen ? this.#quiet + 1 : 0
    this.#seen = this.#activity
    if (this.#quiet >= looks) {
      this.#quiet = 0
      this.#idle()
    }
    if (this.#timer !== undefined) this.begin()
  }
}
