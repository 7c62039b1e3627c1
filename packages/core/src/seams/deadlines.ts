import type { Clock } from './clock.ts'

interface Deadline {
  readonly due: number
  readonly reached: () => void
}

/** The timeouts of a turn's tools over one timer: setting and clearing one for each call costs more than most tools. */
export class Deadlines {
  readonly #clock: Clock
  readonly #waiting = new Set<Deadline>()
  #armedFor = Number.POSITIVE_INFINITY
  #disarm: (() => void) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Calls `reached` after `ms`, unless `remove` comes first. */
  add(ms: number, reached: () => void): Deadline {
    const deadline = { due: this.#clock.monotonic() + ms, reached }
    this.#waiting.add(deadline)
    if (deadline.due < this.#armedFor) this.#arm(deadline.due, ms)
    return deadline
  }

  remove(deadline: Deadline): void {
    this.#waiting.delete(deadline)
  }

  /** The turn has ended: no timer is left. */
  clear(): void {
    this.#waiting.clear()
    this.#disarm?.()
  }

  #arm(due: number, ms: number): void {
    this.#disarm?.()
    this.#armedFor = due
    this.#disarm = this.#clock.after(ms, () => this.#ring())
  }

  #ring(): void {
    this.#armedFor = Number.POSITIVE_INFINITY
    const now = this.#clock.monotonic()
    let next = Number.POSITIVE_INFINITY
    for (const deadline of this.#waiting) {
      if (deadline.due > now + 1) next = Math.min(next, deadline.due)
      else {
        this.#waiting.delete(deadline)
        deadline.reached()
      }
    }
    if (next !== Number.POSITIVE_INFINITY) this.#arm(next, next - now)
  }
}
