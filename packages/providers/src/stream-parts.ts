import type {
  ContentChunk,
  FileChunk,
  FinishChunk,
  ProviderMetadata,
  ProviderToolResult,
  SourceChunk,
} from '@allium/core'
import { type AiSdkModel, unsupported } from './ai-sdk-model.ts'
import { type BlockPart, Blocks } from './blocks.ts'
import { partError } from './failure.ts'
import { type FinishPart, toFinish, truncated } from './finish.ts'
import { type InputStartPart, type ToolCallPart, ToolInputs } from './tool-inputs.ts'

type StreamPart =
  | ({
      type: 'text-start' | 'text-delta' | 'text-end' | 'reasoning-start' | 'reasoning-delta' | 'reasoning-end'
    } & BlockPart)
  | ({ type: 'tool-input-start' } & InputStartPart)
  | { type: 'tool-input-delta'; id: string; delta: string }
  | ({ type: 'tool-call' } & ToolCallPart)
  | ({ type: 'tool-result' } & ToolResultPart)
  | ({ type: 'file' } & FilePart)
  | ({ type: 'source' } & SourcePart)
  | { type: 'tool-approval-request' }
  | ({ type: 'finish' } & FinishPart)
  | { type: 'error'; error: unknown }

interface ToolResultPart {
  toolCallId: string
  toolName: string
  result: unknown
  isError?: boolean
  preliminary?: boolean
  providerMetadata?: ProviderMetadata
}
interface FilePart {
  mediaType: string
  data: string | Uint8Array | { type: 'data'; data: string | Uint8Array } | { type: 'url'; url: URL }
  providerMetadata?: ProviderMetadata
}
interface SourcePart {
  id?: string
  url?: string
  title?: string
  mediaType?: string
  providerMetadata?: ProviderMetadata
}

/** Turns the parts of one stream into chunks. Parts that it does not know are ignored. */
export class StreamParts {
  readonly #blocks = new Blocks()
  readonly #inputs = new ToolInputs()
  #finish: FinishPart | undefined

  constructor(readonly model: AiSdkModel) {}

  /** @throws what an `error` part carries */
  chunks(value: unknown): ContentChunk[] {
    const part = value as StreamPart
    switch (part.type) {
      case 'text-start':
        this.#blocks.start('text', part)
        return []
      case 'reasoning-start':
        this.#blocks.start('reasoning', part)
        return []
      case 'text-delta':
      case 'text-end':
        return listed(this.#blocks.next('text', part))
      case 'reasoning-delta':
      case 'reasoning-end':
        return listed(this.#blocks.next('reasoning', part))
      case 'tool-input-start':
        return this.#inputs.start(part)
      case 'tool-input-delta':
        return this.#inputs.delta(part.id, part.delta)
      case 'tool-call':
        return this.#inputs.call(part)
      case 'tool-result':
        return part.preliminary === true ? [] : [toToolResult(part)]
      case 'file':
        return [toFile(part)]
      case 'source':
        return [toSource(part)]
      case 'finish':
        this.#finish = part
        return []
      case 'error':
        throw partError(part.error)
      case 'tool-approval-request':
        throw unsupported(
          this.model,
          'asks for the approval of a tool that it runs itself. Set that tool to need none at the provider.',
        )
      default:
        return []
    }
  }

  /**
   * What remains to say when the stream has been read to its end.
   *
   * @throws AlliumError `model.truncated` if it was cut
   */
  end(): (ContentChunk | FinishChunk)[] {
    if (this.#finish === undefined) throw truncated()
    const finish = toFinish(this.#finish)
    return [...this.#inputs.close(), finish]
  }
}

function toToolResult({ toolCallId, toolName, result, isError, providerMetadata }: ToolResultPart): ProviderToolResult {
  const content = typeof result === 'string' ? result : (JSON.stringify(result) ?? '')
  const chunk: ProviderToolResult = { type: 'tool-result', callId: toolCallId, name: toolName, content }
  if (isError === true) chunk.isError = true
  return withMetadata(chunk, providerMetadata)
}

/** v4 puts the data in a box that tells its kind. */
function toFile({ mediaType, data, providerMetadata }: FilePart): FileChunk {
  const boxed = typeof data === 'object' && 'type' in data ? data : { type: 'data' as const, data }
  return withMetadata(
    { type: 'file', mediaType, data: boxed.type === 'url' ? boxed.url : boxed.data },
    providerMetadata,
  )
}

function toSource({ id, url, title, mediaType, providerMetadata }: SourcePart): SourceChunk {
  const chunk: SourceChunk = { type: 'source' }
  if (id !== undefined) chunk.id = id
  if (url !== undefined) chunk.url = url
  if (title !== undefined) chunk.title = title
  if (mediaType !== undefined) chunk.mediaType = mediaType
  return withMetadata(chunk, providerMetadata)
}

function withMetadata<C extends ContentChunk>(chunk: C, providerMetadata: ProviderMetadata | undefined): C {
  if (providerMetadata !== undefined) chunk.providerMetadata = providerMetadata
  return chunk
}

function listed<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value]
}
