import type { Input, OutputOption, RunOptions, RunResult } from '@allium/core'

/** An agent as `evaluate()` uses it. Every `Agent` is one. */
export interface EvalAgent {
  readonly name: string
  readonly version: string | undefined
  run(input: Input, options: never): PromiseLike<EvalResult>
}

/** What `evaluate()` reads of a run's result. */
export type EvalResult = Pick<RunResult, 'text' | 'status' | 'reason' | 'usage' | 'messages' | 'toolCalls'> & {
  readonly output: unknown
}

/** Options for the runs of the agent. An answer that does not fit `output` has the score 0. */
export type EvalRunOptions = Pick<
  RunOptions<unknown, OutputOption | undefined>,
  'model' | 'settings' | 'maxSteps' | 'output'
>
