import type { Clock } from './clock.ts'

export interface Deadline {
  readonly due: number
  /** Undefined after `remove`. */
  reached: (() => void) | undefined
}

/** Runs the timeouts of a turn's tools on one timer. Setting and clearing a timer for each call costs more than most tools. */
export class Deadlines {
  readonly #clock: Clock
  #deadlines: Deadline[] = []
  #waiting = 0
  #armedFor = Number.POSITIVE_INFINITY
  #disarm: (() => void) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Calls `reached` after `ms`, unless `remove` is called before. */
  add(ms: number, reached: () => void): Deadline {
    const deadline = { due: this.#clock.monotonic() + ms, reached }
    this.#deadlines.push(deadline)
    this.#waiting++
    if (deadline.due < this.#armedFor) this.#arm(deadline.due, ms)
    return deadline
  }

  remove(deadline: Deadline): void {
    if (deadline.reached === undefined) return
    deadline.reached = undefined
    this.#waiting--
    if (this.#waiting === 0) this.#deadlines.length = 0
  }

  /** Cancels the timer at the end of the turn. */
  clear(): void {
    this.#deadlines.length = 0
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
    const waiting = this.#deadlines.filter(({ reached }) => reached !== undefined)
    this.#deadlines = waiting.filter(({ due }) => due > now + 1)
    const next = Math.min(...this.#deadlines.map(({ due }) => due))
    if (next !== Number.POSITIVE_INFINITY) this.#arm(next, next - now)
    for (const deadline of waiting) if (deadline.due <= now + 1) deadline.reached?.()
  }
}
