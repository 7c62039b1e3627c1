import type { ToolContext, ToolResult } from '@allium/core'

/** A tool call before it runs. */
export interface ToolCallInfo extends Pick<ToolContext, 'callId' | 'args' | 'tool' | 'invalid' | 'attempt'> {
  readonly name: string
}

/** A tool call with its outcome. */
export interface ToolCallOutcome extends ToolCallInfo {
  readonly result: Readonly<ToolResult>
  /** Whether the result is not an error. */
  readonly ok: boolean
  /** The duration in milliseconds, including inner layers. */
  readonly duration: number
}

/** The tool calls of an iteration in order, without those that an outer layer answered. */
export interface ToolPhase {
  readonly iteration: number
  readonly calls: readonly ToolCallOutcome[]
}

/** The possible decisions of `onBeforeToolCall`. */
export type ToolCallDecision =
  /** Changes the arguments; the next hooks receive them. */
  | { type: 'transformArgs'; args: Record<string, unknown> }
  /** Skips the tool and returns this result to the model. No further hook is called. */
  | { type: 'skip'; result: unknown }
  /** Ends the run. No further hook is called. */
  | { type: 'abort'; reason?: unknown }
