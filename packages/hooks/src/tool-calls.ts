import type { ToolCallOutcome, ToolPhase } from './tool-info.ts'

/** The tool calls of one iteration, until all have an outcome. */
export class ToolCalls {
  /** Whether the hooks have been called. */
  isReported = false
  readonly #iteration: number
  readonly #expected: number
  readonly #outcomes = new Map<number, ToolCallOutcome>()

  /** @param expected the number of calls; unknown in a resumed run until the next iteration */
  constructor(iteration: number, expected = Number.POSITIVE_INFINITY) {
    this.#iteration = iteration
    this.#expected = expected
  }

  /** Returns whether this was the last. */
  add(index: number, outcome: ToolCallOutcome): boolean {
    this.#outcomes.set(index, outcome)
    return this.#outcomes.size === this.#expected && !this.isReported
  }

  complete(): ToolPhase {
    this.isReported = true
    const calls = [...this.#outcomes].sort(([a], [b]) => a - b).map(([, outcome]) => outcome)
    return { iteration: this.#iteration, calls }
  }

  /** Reports calls that are still incomplete when the loop ends, unless some wait for a human. */
  async onLoopEnd(isSuspended: boolean, report: () => Promise<unknown>): Promise<void> {
    if (!this.isReported && !isSuspended) await report()
  }
}
