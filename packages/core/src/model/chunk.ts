import type { Part, ProviderMetadata } from '../messages/message.ts'
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
}
/** The result of a call that the provider executed itself. */
export interface ProviderToolResult extends ChunkBase {
  type: 'tool-result'
  callId: string
  name: string
  content: string | Part[]
  isError?: boolean
}
export interface FileChunk extends ChunkBase {
  type: 'file'
  data: Uint8Array | URL | string
  mediaType: string
}
/** Where the answer comes from. */
export interface SourceChunk extends ChunkBase {
  type: 'source'
  url?: string
  title?: string
  mediaType?: string
}
export type FinishReason = 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'other'
/** The last chunk; a stream without it was cut. */
export interface FinishChunk extends ChunkBase {
  type: 'finish'
  reason: FinishReason
  usage: Partial<Usage>
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
/** One piece of a model's stream. */
export type ModelChunk = ContentChunk | FinishChunk
