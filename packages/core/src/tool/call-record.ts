import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { CallEvents, ToolEnd, ToolStart } from '../events/events.ts'
import type { ApprovalRecord } from '../messages/message.ts'
import type { ToolCall } from '../model/response.ts'
import type { PendingCall } from '../state/snapshot.ts'
import type { ToolResult } from './tool-result.ts'

/** A tool call of the turn and its result. */
export interface ToolCallRecord extends Pick<ToolCall, 'callId' | 'name' | 'args'> {
  result: ToolResult
  /** The approval decision, if there was one. */
  approval?: ApprovalRecord
}

/** The types of tool calls in events, pending calls and records. */
export interface CallTypes extends CallEvents {
  record: ToolCallRecord
}

/** The types of one tool's calls. The tool name determines the arguments, as the model sends them, and the return value. */
export interface CallsOf<S, N extends string, O> extends CallTypes {
  start: Named<ToolStart, N, ToolInput<S>>
  end: Omit<ToolEnd, 'name'> & { name: N }
  pending: Named<PendingCall, N, ToolInput<S>>
  record: Omit<Named<ToolCallRecord, N, ToolInput<S>>, 'result'> & {
    result: Omit<ToolResult, 'value'> & { value?: Exclude<O, ToolResult> }
  }
}

type Named<Call, N extends string, A> = Omit<Call, 'name' | 'args'> & { name: N; args: A }

/** Turns an interface into a plain object type, because an interface is not assignable to a record. */
type Plain<A> = { [K in keyof A]: A[K] }
type ToolInput<S> = S extends StandardSchemaV1 ? Plain<StandardSchemaV1.InferInput<S>> : Record<string, unknown>
