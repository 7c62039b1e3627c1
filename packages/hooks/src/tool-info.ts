import type { ToolContext, ToolResult } from '@allium/core'

/** A tool call before it runs. */
export interface ToolCallInfo extends Pick<ToolContext, 'callId' | 'args' | 'tool' | 'invalid' | 'attempt'> {
  readonly name: string
}

/** A tool call and what it came to. */
export interface ToolCallOutcome extends ToolCallInfo {
  readonly result: Readonly<ToolResult>
  /** Whether the result is no error. */
  readonly ok: boolean
  /** Milliseconds, those of inner layers included. */
  readonly duration: number
}

/** The tool calls of an iteration, in their order; without those that a layer outside answered. */
export interface ToolPhase {
  readonly iteration: number
  readonly calls: readonly ToolCallOutcome[]
}

/** What `onBeforeToolCall` may decide. */
export type ToolCallDecision =
  /** The arguments are these; the next hooks are asked about them. */
  | { type: 'transformArgs'; args: Record<string, unknown> }
  /** The tool does not run; the model gets this result. No further hook is asked. */
  | { type: 'skip'; result: unknown }
  /** The run ends. No further hook is asked. */
  | { type: 'abort'; reason?: unknown }
