import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { CallEvents, ToolEnd, ToolStart } from '../events/events.ts'
import type { PendingCall } from '../state/snapshot.ts'
import type { ToolCallRecord } from './call-record.ts'
import type { ToolResult } from './tool-result.ts'

/** What is told of tool calls: of tools whose types are known, or of any. */
export interface CallTypes extends CallEvents {
  record: ToolCallRecord
}

/** What is told of the calls of one tool: its name tells its arguments, as the model gives them, and what it gives. */
export interface CallsOf<S, N extends string, O> extends CallTypes {
  start: Named<ToolStart, N, ToolInput<S>>
  end: Omit<ToolEnd, 'name'> & { name: N }
  pending: Named<PendingCall, N, ToolInput<S>>
  record: Omit<Named<ToolCallRecord, N, ToolInput<S>>, 'result'> & {
    result: Omit<ToolResult, 'value'> & { value?: Exclude<O, ToolResult> }
  }
}

type Named<Call, N extends string, A> = Omit<Call, 'name' | 'args'> & { name: N; args: A }

/** An interface is no record, and what it has is one. */
type Plain<A> = { [K in keyof A]: A[K] }
type ToolInput<S> = S extends StandardSchemaV1 ? Plain<StandardSchemaV1.InferInput<S>> : Record<string, unknown>
