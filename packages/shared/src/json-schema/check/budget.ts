import { maxCheckDepth } from '../limits.ts'

/** A check that was stopped because it used up its steps or nested too deep. */
export class BudgetExceeded extends Error {}

/** Counts the work of one check, so that no schema and no value can block the process. */
export class Budget {
  readonly #max: number
  #used = 0
  #depth = 0

  constructor(max: number) {
    this.#max = max
  }

  get used(): number {
    return this.#used
  }

  /** @throws BudgetExceeded when the steps are used up */
  consume(steps: number): void {
    if (this.#used + steps > this.#max)
      throw new BudgetExceeded(`cannot be checked: its schema needs more than ${this.#max} steps for it`)
    this.#used += steps
  }

  /** @throws BudgetExceeded when the check nests too deep */
  enter(): void {
    this.consume(1)
    if (++this.#depth > maxCheckDepth)
      throw new BudgetExceeded(
        `cannot be checked: it goes more than ${maxCheckDepth} levels deep, or its schema refers to itself`,
      )
  }

  leave(): void {
    this.#depth--
  }
}
