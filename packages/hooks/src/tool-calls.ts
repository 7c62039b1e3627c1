import type { ToolCallOutcome, ToolPhase } from './tool-info.ts'

/** The tool calls of one iteration, until all have come to something. */
export class ToolCalls {
  /** Whether the hooks were told. */
  isReported = false
  readonly #iteration: number
  readonly #expected: number
  readonly #outcomes = new Map<number, ToolCallOutcome>()

  /** @param expected how many there are; where a run resumes, nobody knows before the next iteration */
  constructor(iteration: number, expected = Number.POSITIVE_INFINITY) {
    this.#iteration = iteration
    this.#expected = expected
  }

  /** Gives whether this was the last. */
  add(index: number, outcome: ToolCallOutcome): boolean {
    this.#outcomes.set(index, outcome)
    return this.#outcomes.size === this.#expected && !this.isReported
  }

  complete(): ToolPhase {
    this.isReported = true
    const calls = [...this.#outcomes].sort(([a], [b]) => a - b).map(([, outcome]) => outcome)
    return { iteration: this.#iteration, calls }
  }

  /** The loop has ended: tells of calls that it was not seen to complete, unless some wait for a human. */
  async onLoopEnd(isSuspended: boolean, report: () => Promise<unknown>): Promise<void> {
    if (!this.isReported && !isSuspended) await report()
  }
}
