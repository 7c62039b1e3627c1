import type { ProviderApprovalRequest, ProviderMetadata, ToolResultPart } from '../messages/message.ts'
import type { Usage } from '../messages/usage.ts'

interface ChunkBase {
  /** Separates blocks of the same kind: a delta with another id starts a new part. */
  id?: string
  providerMetadata?: ProviderMetadata
}
export interface TextDelta extends ChunkBase {
  type: 'text-delta'
  delta: string
}
export interface ReasoningDelta extends ChunkBase {
  type: 'reasoning-delta'
  delta: string
}
export interface ToolInputStart extends ChunkBase {
  type: 'tool-input-start'
  callId: string
  name: string
  /** The provider runs this call itself and sends the result as a `tool-result` chunk. */
  providerExecuted?: boolean
  /** The provider requires an approval before it runs the call. Never set together with `providerExecuted`. */
  approvalRequest?: ProviderApprovalRequest
}
/** A piece of the call's JSON text. */
export interface ToolInputDelta extends ChunkBase {
  type: 'tool-input-delta'
  callId: string
  delta: string
}
export interface ToolInputEnd extends ChunkBase {
  type: 'tool-input-end'
  callId: string
  /** Same as in the start, for providers that only send it at the end of the call. */
  providerExecuted?: boolean
}
/** The result of a call that the provider executed itself. */
export interface ProviderToolResult
  extends ChunkBase,
    Pick<ToolResultPart, 'callId' | 'name' | 'content' | 'isError' | 'json'> {
  type: 'tool-result'
}
export interface FileChunk extends ChunkBase {
  type: 'file'
  data: Uint8Array | URL | string
  mediaType: string
  /** The file belongs to the model's reasoning, not to its answer. */
  reasoning?: boolean
}
/** Provider-specific data that the provider expects back in the next step, such as the summary of a compaction. */
export interface CustomChunk extends ChunkBase {
  type: 'custom'
  /** Its kind, as named by the provider: `openai.compaction`. */
  kind: string
}
/** A source of the answer. */
export interface SourceChunk extends ChunkBase {
  type: 'source'
  url?: string
  title?: string
  mediaType?: string
  filename?: string
  /** The passage of the answer that it supports, if the provider sends it. */
  cites?: Citation
}
export interface Citation {
  /** The `id` of the text's chunks. */
  textId: string
  /** Start of the passage in that text, and its exclusive end, in UTF-16 units. */
  startIndex?: number
  endIndex?: number
  /** The quoted text of the source. */
  citedText?: string
}
export type FinishReason = 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'other'
/** The last chunk. A stream without it was cut off. */
export interface FinishChunk extends ChunkBase {
  type: 'finish'
  reason: FinishReason
  usage: Partial<Usage>
  /** The provider's original finish reason. */
  rawReason?: string
  /** The provider paused the answer and continues it in another step, which sends the answer so far. */
  paused?: boolean
  /** The provider's id of this answer. */
  responseId?: string
  /** Parts of the request that the provider, or its package, could not follow. */
  warnings?: ModelWarning[]
}
/** A part of a model request that was not followed, such as a setting that the model does not support. */
export interface ModelWarning {
  /** `unsupported`, `compatibility`, `deprecated` or `other`. */
  type: string
  /** The setting, tool or feature of the warning. */
  feature?: string
  message?: string
}

/** The chunks that layers transform: all except `finish`, which layers cannot see or drop. */
export type ContentChunk =
  | TextDelta
  | ReasoningDelta
  | ToolInputStart
  | ToolInputDelta
  | ToolInputEnd
  | ProviderToolResult
  | FileChunk
  | SourceChunk
  | CustomChunk
/** One chunk of a model's stream. */
export type ModelChunk = ContentChunk | FinishChunk
