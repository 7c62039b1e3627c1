import {
  type ContentChunk,
  type FinishChunk,
  type ModelResponse,
  noUsage,
  type Part,
  type ReasoningDelta,
  type TextDelta,
  type ToolCall,
  type ToolInputEnd,
  type ToolInputStart,
} from '@allium/core'

/** Assembles the response from chunks, for a layer that answers itself. */
export function assemble(
  chunks: readonly ContentChunk[],
  { reason, rawReason, responseId, providerMetadata, warnings }: FinishChunk,
  model: string,
): ModelResponse {
  const answer = new Answer()
  for (const chunk of chunks) answer.add(chunk)
  const reasoning = answer.textOf('reasoning')
  return {
    text: answer.textOf('text'),
    ...(reasoning !== '' && { reasoning }),
    toolCalls: answer.toolCalls,
    finishReason: reason,
    usage: noUsage(),
    model,
    message: { role: 'assistant', content: answer.content },
    ...(rawReason !== undefined && { rawFinishReason: rawReason }),
    ...(responseId !== undefined && { responseId }),
    ...(providerMetadata !== undefined && { providerMetadata }),
    ...(warnings !== undefined && { warnings }),
  }
}

/** The parts of an answer, as its chunks arrive. */
class Answer {
  readonly content: Part[] = []
  readonly #ids = new Map<Part, string | undefined>()
  readonly #calls = new Map<string, { call: ToolCall; json: string; part: Part }>()

  add(chunk: ContentChunk): void {
    switch (chunk.type) {
      case 'text-delta':
        return this.#addText('text', chunk)
      case 'reasoning-delta':
        return this.#addText('reasoning', chunk)
      case 'tool-input-start':
        return this.#startCall(chunk)
      case 'tool-input-delta': {
        const entry = this.#calls.get(chunk.callId)
        if (entry !== undefined) entry.json += chunk.delta
        return
      }
      case 'tool-input-end':
        return this.#endCall(chunk)
      case 'tool-result':
      case 'file':
      case 'custom': {
        const { id: _, ...part } = chunk
        this.content.push(part)
      }
    }
  }

  get toolCalls(): ToolCall[] {
    return [...this.#calls.values()].map(({ call }) => call)
  }

  textOf(type: 'text' | 'reasoning'): string {
    return this.content.map((part) => (part.type === type ? part.text : '')).join('')
  }

  #addText(type: 'text' | 'reasoning', chunk: TextDelta | ReasoningDelta): void {
    const lastPart = this.content.at(-1)
    if (lastPart?.type === type && this.#ids.get(lastPart) === chunk.id) {
      lastPart.text += chunk.delta
      Object.assign(lastPart, metadataOf(chunk))
      return
    }
    const part: Part = { type, text: chunk.delta, ...metadataOf(chunk) }
    this.#ids.set(part, chunk.id)
    this.content.push(part)
  }

  #startCall(chunk: ToolInputStart): void {
    const call: ToolCall = { callId: chunk.callId, name: chunk.name, args: {} }
    if (chunk.providerExecuted === true) call.providerExecuted = true
    if (chunk.approvalRequest !== undefined) call.approvalRequest = chunk.approvalRequest
    const part: Part = { type: 'tool-call', ...call, ...metadataOf(chunk) }
    this.#calls.set(chunk.callId, { call, json: '', part })
    this.content.push(part)
  }

  #endCall(chunk: ToolInputEnd): void {
    const entry = this.#calls.get(chunk.callId)
    if (entry === undefined) return
    Object.assign(entry.call, argsOf(entry.json))
    Object.assign(entry.part, { args: entry.call.args }, metadataOf(chunk))
  }
}

function metadataOf({ providerMetadata }: ContentChunk): Pick<ContentChunk, 'providerMetadata'> {
  return providerMetadata === undefined ? {} : { providerMetadata }
}

function argsOf(json: string): Pick<ToolCall, 'args' | 'invalid'> {
  if (json.trim() === '') return { args: {} }
  try {
    const args: unknown = JSON.parse(json)
    if (typeof args === 'object' && args !== null && !Array.isArray(args))
      return { args: args as Record<string, unknown> }
  } catch {
    // reported below
  }
  return { args: {}, invalid: 'The arguments are no JSON object.' }
}
