import { maxCheckDepth } from '../limits.ts'

/** A check that was given up, because it had used its steps or went too deep. */
export class GivenUp extends Error {}

/** Counts the work of one check, so that no schema and no value can keep the process busy. */
export class Budget {
  readonly #most: number
  #used = 0
  #depth = 0

  constructor(most: number) {
    this.#most = most
  }

  get used(): number {
    return this.#used
  }

  /** @throws GivenUp when the steps are used up */
  spend(steps: number): void {
    if (this.#used + steps > this.#most)
      throw new GivenUp(`cannot be checked: its schema needs more than ${this.#most} steps for it`)
    this.#used += steps
  }

  /** @throws GivenUp when the check goes too deep */
  enter(): void {
    this.spend(1)
    if (++this.#depth > maxCheckDepth)
      throw new GivenUp(
        `cannot be checked: it goes more than ${maxCheckDepth} levels deep, or its schema refers to itself`,
      )
  }

  leave(): void {
    this.#depth--
  }
}
