import type { Part, ProviderApprovalRequest, ProviderMetadata } from '../messages/message.ts'
import type { Usage } from '../messages/usage.ts'

interface ChunkBase {
  /** Tells blocks of one kind apart: deltas with another id begin a new part. */
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
  /** The provider runs this call itself and brings its result as a `tool-result` chunk. */
  providerExecuted?: boolean
  /** The provider asks for an approval before it runs the call. Not together with `providerExecuted`. */
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
  /** As in the start, from providers that tell it only once the call is whole. */
  providerExecuted?: boolean
}
/** The result of a call that the provider executed itself. */
export interface ProviderToolResult extends ChunkBase {
  type: 'tool-result'
  callId: string
  name: string
  content: string | Part[]
  isError?: boolean
  /** The content is JSON: what the provider gave was no text. */
  json?: boolean
}
export interface FileChunk extends ChunkBase {
  type: 'file'
  data: Uint8Array | URL | string
  mediaType: string
  /** It belongs to the model's thoughts, not to its answer. */
  reasoning?: boolean
}
/** Something that only its provider knows, and wants back in the next step: the summary of a compaction, say. */
export interface CustomChunk extends ChunkBase {
  type: 'custom'
  /** What it is, as its provider names it: `openai.compaction`. */
  kind: string
}
/** Where the answer comes from. */
export interface SourceChunk extends ChunkBase {
  type: 'source'
  url?: string
  title?: string
  mediaType?: string
  filename?: string
  /** The passage of the answer that it supports, from providers that tell it. */
  cites?: Citation
}
export interface Citation {
  /** The `id` of the text's chunks. */
  textId: string
  /** Where the passage begins in that text, and the index behind its end, in UTF-16 units. */
  startIndex?: number
  endIndex?: number
  /** What the source says. */
  citedText?: string
}
export type FinishReason = 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'other'
/** The last chunk; a stream without it was cut. */
export interface FinishChunk extends ChunkBase {
  type: 'finish'
  reason: FinishReason
  usage: Partial<Usage>
  /** The reason in the provider's own word. */
  rawReason?: string
  /** The provider has paused by itself, and goes on once it is sent what it has said: another step follows. */
  paused?: boolean
  /** The provider's id of this answer. */
  responseId?: string
  /** What the provider, or its package, could not do as it was asked. */
  warnings?: ModelWarning[]
}
/** A model call was made, though not quite as asked: a setting that the model does not know, say. */
export interface ModelWarning {
  /** `unsupported`, `compatibility`, `deprecated` or `other`. */
  type: string
  /** The setting, tool or feature that it is about. */
  feature?: string
  message?: string
}

/** What flows through the layers: everything but `finish`, which no layer sees or drops. */
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
/** One piece of a model's stream. */
export type ModelChunk = ContentChunk | FinishChunk
