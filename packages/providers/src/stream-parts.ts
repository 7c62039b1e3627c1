import type {
  ContentChunk,
  FinishChunk,
  ModelWarning,
  ProviderApprovalRequest,
  ProviderMetadata,
  SourceChunk,
} from '@allium/core'
import { type AiSdkModel, unsupported } from './ai-sdk-model.ts'
import { type BlockPart, Blocks } from './blocks.ts'
import {
  type CitationPart,
  type FilePart,
  type SourcePart,
  type ToolResultPart,
  toFile,
  toSource,
  toToolResult,
  withMetadata,
} from './content-parts.ts'
import { asTruncated, partError, truncatedStream } from './failure.ts'
import { type FinishInfo, type FinishPart, toFinish } from './finish.ts'
import type { ProviderTools } from './provider-tools.ts'
import type { RawEvents } from './raw-events.ts'
import { serverOf } from './tool-approvals.ts'
import { type InputStartPart, type ToolCallPart, ToolInputs } from './tool-inputs.ts'
import { toWarning, type WarningPart } from './warnings.ts'

type StreamPart =
  | ({ type: 'text-start' | 'text-delta' | 'reasoning-start' | 'reasoning-delta' | 'reasoning-end' } & BlockPart)
  | ({ type: 'text-end'; citations?: CitationPart[] } & BlockPart)
  | ({ type: 'tool-input-start' } & InputStartPart)
  | { type: 'tool-input-delta'; id: string; delta: string }
  | ({ type: 'tool-call' } & ToolCallPart)
  | ({ type: 'tool-result' } & ToolResultPart)
  | ({ type: 'file' | 'reasoning-file' } & FilePart)
  | { type: 'custom'; kind: string; providerMetadata?: ProviderMetadata }
  | ({ type: 'source' } & SourcePart)
  | { type: 'tool-approval-request'; approvalId: string; toolCallId: string; approvalRequest?: ProviderApprovalRequest }
  | { type: 'stream-start'; warnings?: WarningPart[] }
  | { type: 'response-metadata'; id?: string }
  | { type: 'raw'; rawValue: unknown }
  | ({ type: 'finish' } & FinishPart)
  | { type: 'error'; error: unknown }

/** Converts the parts of one stream to chunks. Unknown parts are ignored. */
export class StreamParts {
  readonly #blocks = new Blocks()
  readonly #inputs: ToolInputs
  readonly #responseInfo: FinishInfo & { warnings: ModelWarning[] }
  #finish: FinishPart | undefined
  /** Provider-run calls by id, held until their result or the end shows that they need no approval first. */
  readonly #heldCalls = new Map<string, ToolCallPart>()

  constructor(
    readonly model: AiSdkModel,
    tools: ProviderTools,
    readonly raw?: RawEvents,
  ) {
    this.#inputs = new ToolInputs(tools)
    this.#responseInfo = { warnings: [...tools.warnings] }
  }

  /** @throws the error of an `error` part */
  chunks(value: unknown): ContentChunk[] {
    const part = value as StreamPart
    if (part.type === 'tool-approval-request') return this.#approvalChunks(part)
    const id = 'toolCallId' in part ? part.toolCallId : part.type === 'tool-input-start' ? part.id : ''
    return [...this.#release(id), ...this.#next(part)]
  }

  #next(part: Exclude<StreamPart, { type: 'tool-approval-request' }>): ContentChunk[] {
    switch (part.type) {
      case 'text-start':
        this.#blocks.start('text', part)
        return []
      case 'reasoning-start':
        this.#blocks.start('reasoning', part)
        return []
      case 'text-delta':
        return toList(this.#blocks.next('text', part))
      case 'reasoning-delta':
        return toList(this.#blocks.next('reasoning', part))
      case 'text-end':
        return this.#endOfText(part)
      case 'reasoning-end':
        return toList(this.#blocks.end('reasoning', part))
      case 'tool-input-start':
        return this.#inputs.start(part)
      case 'tool-input-delta':
        return this.#inputs.delta(part.id, part.delta)
      case 'tool-call':
        if (part.providerExecuted !== true || part.dynamic !== true || this.#inputs.has(part.toolCallId))
          return this.#inputs.call(part)
        this.#heldCalls.set(part.toolCallId, part)
        return []
      case 'tool-result':
        return part.preliminary === true ? [] : [toToolResult(part)]
      case 'file':
      case 'reasoning-file':
        return [toFile(part)]
      case 'custom':
        return [withMetadata({ type: 'custom', kind: part.kind }, part.providerMetadata)]
      case 'source':
        return [toSource(part)]
      case 'finish':
        this.#finish = part
        return []
      case 'stream-start':
        this.#responseInfo.warnings.push(...(part.warnings ?? []).map(toWarning))
        return []
      case 'response-metadata':
        if (part.id !== undefined) this.#responseInfo.responseId = part.id
        return []
      case 'raw':
        this.raw?.read(part.rawValue)
        return []
      case 'error':
        throw asTruncated(this.raw?.errorOf(part.error) ?? partError(part.error))
      default:
        return []
    }
  }

  /**
   * Returns the remaining chunks at the end of the stream.
   *
   * @throws AlliumError `model.truncated` if it was truncated, `model.failed` if the provider failed
   */
  end(): (ContentChunk | FinishChunk)[] {
    this.raw?.checkEnd()
    if (this.#finish === undefined) throw truncatedStream()
    const released = [...this.#heldCalls.keys()].flatMap((id) => this.#release(id))
    // Packages for OpenAI's Responses API, which has no reason, report a truncated stream by themselves.
    const isProvable = this.raw !== undefined && !this.model.provider.endsWith('.responses')
    const finish = toFinish(this.#finish, {
      ...this.#responseInfo,
      eventReason: this.raw?.reason,
      mustBeProven: isProvable && this.#inputs.size > 0,
    })
    const { reason, rawReason = this.raw?.reason } = finish
    const mayBeEmpty = reason === 'length' || (reason === 'tool-calls' && rawReason !== undefined)
    return [...released, ...this.#inputs.close(mayBeEmpty), finish]
  }

  #release(id: string): ContentChunk[] {
    const call = this.#heldCalls.get(id)
    return this.#heldCalls.delete(id) ? this.#inputs.call(call as ToolCallPart) : []
  }

  #approvalChunks({
    approvalId: id,
    toolCallId,
    approvalRequest,
  }: Extract<StreamPart, { type: 'tool-approval-request' }>): ContentChunk[] {
    const call = this.#heldCalls.get(toolCallId)
    if (call === undefined)
      throw unsupported(
        this.model,
        'asks to approve a tool call that it did not make before, or that is already running. Add that MCP server to the agent with tools.mcp({ requireApproval: true }), so that the tool runs here and a person decides.',
      )
    this.#heldCalls.delete(toolCallId)
    return this.#inputs.approvalChunks(
      call,
      approvalRequest ?? { id, provider: this.model.provider, ...serverOf(this.raw?.last, id) },
    )
  }

  /** Each citation of the text becomes a source with its passage. */
  #endOfText({ citations = [], ...part }: { citations?: CitationPart[] } & BlockPart): ContentChunk[] {
    const textId = this.#blocks.idOf('text', part.id)
    const sources = citations.map(
      ({ source, ...passage }): SourceChunk => ({
        ...toSource(source),
        cites: { textId, ...passage },
      }),
    )
    return [...toList(this.#blocks.end('text', part)), ...sources]
  }
}

function toList<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value]
}
