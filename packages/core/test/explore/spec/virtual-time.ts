/** Something that is to come: a value or an error, once. What a step of the specification waits for. */
export class Cell<T = unknown> {
  outcome: { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown } | undefined
  readonly #waiting: (() => void)[] = []

  constructor(readonly time: VirtualTime) {}

  resolve(value: T): void {
    this.#settle({ ok: true, value })
  }
  reject(error: unknown): void {
    this.#settle({ ok: false, error })
  }
  /** Once it has settled; at once where it has. */
  settled(fn: () => void): void {
    if (this.outcome === undefined) this.#waiting.push(fn)
    else this.time.soon(fn)
  }

  #settle(outcome: NonNullable<typeof this.outcome>): void {
    if (this.outcome !== undefined) return
    this.outcome = outcome
    for (const fn of this.#waiting) this.time.soon(fn)
  }
}

/** A step that may wait: `yield cell` gives the cell's value, or throws its error. */
export type Steps<T> = Generator<Cell, T, unknown>

/** Waits for a cell, with its type. */
export function* on<T>(cell: Cell<T>): Steps<T> {
  return (yield cell as Cell) as T
}

/** Time that moves when nothing is left to do at its present instant. */
export class VirtualTime {
  now = 0
  readonly #ready: (() => void)[] = []
  #timers: Timer[] = []

  soon(fn: () => void): void {
    this.#ready.push(fn)
  }
  at(due: number, fn: () => void): void {
    this.#timers.push({ due, fn })
  }
  after(duration: number): Cell<void> {
    const cell = new Cell<void>(this)
    this.at(this.now + duration, () => cell.resolve())
    return cell
  }

  /** Runs steps beside all others; the cell has what they come to. */
  start<T>(steps: Steps<T>): Cell<T> {
    const result = new Cell<T>(this)
    const go = (resume: () => IteratorResult<Cell, T>) => {
      let state: IteratorResult<Cell, T>
      try {
        state = resume()
      } catch (error) {
        return result.reject(error)
      }
      if (state.done === true) return result.resolve(state.value)
      const cell = state.value
      cell.settled(() => {
        const outcome = cell.outcome
        if (outcome === undefined) return
        go(() => (outcome.ok ? steps.next(outcome.value) : steps.throw(outcome.error)))
      })
    }
    go(() => steps.next())
    return result
  }

  /** Lets everything happen, to the end. */
  run(): void {
    for (;;) {
      for (let fn = this.#ready.shift(); fn !== undefined; fn = this.#ready.shift()) fn()
      const first = this.#timers.reduce<Timer | undefined>(
        (a, b) => (a === undefined || b.due < a.due ? b : a),
        undefined,
      )
      if (first === undefined) return
      this.#timers = this.#timers.filter((timer) => timer !== first)
      this.now = first.due
      first.fn()
    }
  }
}

interface Timer {
  readonly due: number
  readonly fn: () => void
}
