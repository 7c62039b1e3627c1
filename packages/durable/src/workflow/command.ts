import type { Clock, SuspendRequest, ToolExecution, ToolResultPart } from '@allium/core'
import type { StepRetry } from './step-retry.ts'

/** The tools of a workflow: one for each kind of step. */
export type CommandKind = 'step' | 'agent' | 'approval' | 'sleep'

/** The context in which a command runs. */
export interface CommandExecution {
  readonly ctx: ToolExecution
  readonly clock: Clock
  /** The same in each attempt and after each restart of the run. */
  readonly idempotencyKey: string
}

/** What `run()` asks for with one call of a function of its context. */
export interface CommandRequest {
  readonly kind: CommandKind
  /** The name that the step got. */
  readonly name: string
  /** The arguments of the tool call, as readers and approvers see them. */
  readonly args: Record<string, unknown>
  readonly retry?: StepRetry | undefined
  /** Runs it. Returns the text to store; undefined if it is suspended. An approval or a sleep is run by the layer. */
  execute?(execution: CommandExecution): Promise<string | undefined>
  /** What an approver gets to know, for an approval. */
  readonly suspend?: SuspendRequest | undefined
  /** Converts the stored result to the value that `run()` gets, or throws. */
  read(result: ToolResultPart): unknown
}

/** A request that has no result yet. */
export interface Command extends CommandRequest {
  /** The name, with a number from the second use on: `charge`, `charge#2`. */
  readonly key: string
  resolve(value: unknown): void
  reject(error: unknown): void
}
