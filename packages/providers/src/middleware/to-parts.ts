import type { ContentChunk, ModelResponse, ProviderApprovalRequest, SourceChunk } from '@allium/core'
import type { AiSdkModel } from '../ai-sdk-model.ts'
import { dialectOf } from '../dialect.ts'
import type { StreamPart } from './ai-sdk-middleware.ts'
import type { Originals } from './originals.ts'

/** Converts the chunks of one answer to parts of the AI SDK, and adds the start and end of blocks. */
export class Parts {
  readonly #inputs = new Map<
    string,
    { toolName: string; input: string; providerExecuted?: true; approvalRequest?: ProviderApprovalRequest }
  >()
  /** A block stays open until another chunk arrives, so that each id belongs to one block. */
  #open: { kind: 'text' | 'reasoning'; of: string | undefined; id: string } | undefined
  /** The citations of the open text. */
  #citations: StreamPart[] = []
  readonly #sources = new Set<string>()
  #count = 0
  readonly #used = new Set<string>()
  readonly #originals: Originals

  constructor(
    readonly facade: AiSdkModel,
    originals: Originals,
  ) {
    this.#originals = originals
  }

  of(chunk: ContentChunk): StreamPart[] {
    const metadataField = chunk.providerMetadata === undefined ? {} : { providerMetadata: chunk.providerMetadata }
    if (chunk.type === 'text-delta' || chunk.type === 'reasoning-delta') {
      const kind = chunk.type === 'text-delta' ? 'text' : 'reasoning'
      const startParts = this.#startBlock(kind, chunk.id)
      return [...startParts, { type: chunk.type, id: this.#open?.id, delta: chunk.delta, ...metadataField }]
    }
    if (chunk.type === 'source') return this.#source(chunk, metadataField)
    const parts = this.#other(chunk, metadataField)
    if (!chunk.type.startsWith('tool-input')) this.#originals.note(parts[0] as StreamPart, chunk)
    return [...this.#end(), ...parts]
  }

  /** Returns the end of the answer, with its outcome. */
  finish(response: ModelResponse): StreamPart[] {
    const { responseId, warnings, providerMetadata } = response
    return [
      ...this.#end(),
      ...(responseId === undefined ? [] : [{ type: 'response-metadata', id: responseId }]),
      ...(warnings === undefined ? [] : [{ type: 'stream-start', warnings }]),
      {
        type: 'finish',
        ...finishOf(response, this.facade),
        ...(providerMetadata !== undefined && { providerMetadata }),
      },
    ]
  }

  #startBlock(kind: 'text' | 'reasoning', of: string | undefined): StreamPart[] {
    if (this.#open?.kind === kind && this.#open.of === of) return []
    const endParts = this.#end()
    const id = of === undefined || this.#used.has(of) ? `${kind}~${++this.#count}` : of
    this.#used.add(id)
    this.#open = { kind, of, id }
    return [...endParts, { type: `${kind}-start`, id: this.#open.id }]
  }

  #end(): StreamPart[] {
    if (this.#open === undefined) return []
    const { kind, id } = this.#open
    const citations = this.#citations
    this.#open = undefined
    this.#citations = []
    return [{ type: `${kind}-end`, id, ...(citations.length > 0 && { citations }) }]
  }

  /** A source that supports a passage is sent with the end of its text if the model's version has citations; otherwise it is sent once. */
  #source(chunk: SourceChunk, metadataField: object): StreamPart[] {
    const { cites, type, providerMetadata: _, id = `source~${++this.#count}`, ...source } = chunk
    const part = { type, sourceType: source.url === undefined ? 'document' : 'url', id, ...source, ...metadataField }
    if (cites !== undefined) {
      const { textId, ...passage } = cites
      const isOpen = this.#open?.kind === 'text' && this.#open.id === textId
      if (isOpen && dialectOf(this.facade).custom) {
        this.#citations.push({ source: part, ...passage } as unknown as StreamPart)
        return []
      }
    }
    const key = JSON.stringify([source.url, source.filename, source.title])
    if (cites !== undefined && this.#sources.has(key)) return []
    this.#sources.add(key)
    this.#originals.note(part, chunk)
    return [part]
  }

  #other(
    chunk: Exclude<ContentChunk, { type: 'text-delta' | 'reasoning-delta' | 'source' }>,
    metadataField: object,
  ): StreamPart[] {
    switch (chunk.type) {
      case 'tool-input-start': {
        const { approvalRequest } = chunk
        if (approvalRequest !== undefined) {
          this.#inputs.set(chunk.callId, { toolName: chunk.name, input: '', providerExecuted: true, approvalRequest })
          return []
        }
        const executedField = chunk.providerExecuted === true ? { providerExecuted: true as const } : {}
        this.#inputs.set(chunk.callId, { toolName: chunk.name, input: '', ...executedField })
        return [{ type: chunk.type, id: chunk.callId, toolName: chunk.name, ...executedField, ...metadataField }]
      }
      case 'tool-input-delta': {
        const call = this.#inputs.get(chunk.callId)
        if (call !== undefined) call.input += chunk.delta
        if (call?.approvalRequest !== undefined) return []
        return [{ type: chunk.type, id: chunk.callId, delta: chunk.delta }]
      }
      case 'tool-input-end': {
        const call = {
          ...this.#inputs.get(chunk.callId),
          ...(chunk.providerExecuted === true && { providerExecuted: true }),
        }
        const { callId } = chunk
        const { approvalRequest, ...callFields } = call
        // As providers send it: the whole call, followed by the request.
        if (approvalRequest !== undefined)
          return [
            { type: 'tool-call', toolCallId: callId, ...callFields, dynamic: true, ...metadataField },
            { type: 'tool-approval-request', approvalId: approvalRequest.id, toolCallId: callId, approvalRequest },
          ]
        return [
          { type: chunk.type, id: callId },
          { type: 'tool-call', toolCallId: callId, ...call, ...metadataField },
        ]
      }
      case 'tool-result': {
        const { callId: toolCallId, name: toolName, content, json, isError } = chunk
        const result = json === true && typeof content === 'string' ? JSON.parse(content) : content
        return [
          { type: chunk.type, toolCallId, toolName, result, ...(isError === true && { isError }), ...metadataField },
        ]
      }
      case 'file':
        return [toFile(chunk, this.facade, metadataField)]
      case 'custom':
        return [{ type: chunk.type, kind: chunk.kind, ...metadataField }]
    }
  }
}

function toFile(
  { data, mediaType, reasoning }: Extract<ContentChunk, { type: 'file' }>,
  facade: AiSdkModel,
  metadataField: object,
): StreamPart {
  const isTagged = dialectOf(facade).custom
  const tagged = data instanceof URL ? { type: 'url', url: data } : { type: 'data', data }
  return {
    type: isTagged && reasoning === true ? 'reasoning-file' : 'file',
    mediaType,
    data: isTagged ? tagged : data,
    ...metadataField,
  }
}

/** Returns reason and usage: flat in v2, nested in later versions. */
function finishOf(
  { finishReason, rawFinishReason, usage }: ModelResponse,
  { specificationVersion }: AiSdkModel,
): object {
  const { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens, reasoningTokens } = usage
  if (specificationVersion === 'v2')
    return {
      finishReason: finishReason === 'other' ? (rawFinishReason ?? finishReason) : finishReason,
      usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, cachedInputTokens, reasoningTokens },
    }
  return {
    finishReason: { unified: finishReason, raw: rawFinishReason ?? finishReason },
    usage: {
      inputTokens: {
        total: inputTokens,
        noCache: inputTokens - (cachedInputTokens ?? 0) - (cacheWriteTokens ?? 0),
        cacheRead: cachedInputTokens,
        cacheWrite: cacheWriteTokens,
      },
      outputTokens: {
        total: outputTokens,
        text: outputTokens - (reasoningTokens ?? 0),
        reasoning: reasoningTokens,
      },
    },
  }
}
