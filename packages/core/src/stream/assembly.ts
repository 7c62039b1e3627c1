import { AlliumError } from '../errors/allium-error.ts'
import { describe } from '../errors/describe.ts'
import { providerResult } from '../messages/known-results.ts'
import type { Message, Part, ReasoningPart, TextPart } from '../messages/message.ts'
import type { ContentChunk, ReasoningDelta, TextDelta, ToolInputStart } from '../model/chunk.ts'
import type { Size } from '../model/estimate.ts'
import type { ToolCall } from '../model/response.ts'
import { parseArgs } from '../model/tool-args.ts'

/** A tool call, built from its chunks. */
interface OpenCall {
  start: ToolInputStart
  json: string
  ended: boolean
}
type Speech = TextPart | ReasoningPart
type Block = { part: Part; id: string | undefined } | { call: OpenCall }

/** Builds an answer from its chunks. Checks that each tool input has one start, then its deltas, then one end. */
export class Assembly {
  #text = ''
  /** Pieces of the running text block since it was last read. Joining them once is cheaper than appending one by one. */
  #running: string[] | undefined
  #tail: { part: TextPart; id: string | undefined } | undefined
  #reasoning: string | undefined
  readonly #blocks: Block[] = []
  #calls: Map<string, OpenCall> | undefined
  /** The call that most deltas continue. */
  #last: OpenCall | undefined

  /** @param who named in the error when chunks arrive out of order: a layer, or the id of a model */
  constructor(readonly who: string) {}

  add(chunk: ContentChunk): void {
    if (chunk.type === 'text-delta' && this.#tail?.id === chunk.id && this.#extendsTail(chunk)) return
    if (this.#running !== undefined) this.#settle()
    this.#tail = undefined
    switch (chunk.type) {
      case 'text-delta':
        this.#text += chunk.delta
        return this.#extend('text', chunk)
      case 'reasoning-delta':
        this.#reasoning = (this.#reasoning ?? '') + chunk.delta
        return this.#extend('reasoning', chunk)
      case 'tool-input-start':
        return this.#start(chunk)
      case 'tool-input-delta':
        this.#open(chunk.callId, 'a tool-input-delta').json += chunk.delta
        return
      case 'tool-input-end': {
        const call = this.#open(chunk.callId, 'a tool-input-end')
        call.ended = true
        if (chunk.providerExecuted === true) call.start = { ...call.start, providerExecuted: true }
        if (chunk.providerMetadata !== undefined)
          call.start = {
            ...call.start,
            providerMetadata: { ...call.start.providerMetadata, ...chunk.providerMetadata },
          }
        return
      }
      case 'tool-result': {
        const { id: _id, ...part } = chunk
        this.#blocks.push({ part: providerResult(part), id: undefined })
        return
      }
      case 'custom':
      case 'file': {
        const { id: _id, ...part } = chunk
        this.#blocks.push({ part, id: undefined })
        return
      }
      case 'source':
        return
    }
  }

  get text(): string {
    if (this.#running !== undefined) this.#settle()
    return this.#text
  }
  get reasoning(): string | undefined {
    return this.#reasoning
  }

  /** The size of the content, including unfinished calls. */
  get size(): Size {
    let chars = this.text.length + (this.#reasoning?.length ?? 0)
    let files = 0
    for (const block of this.#blocks)
      if ('call' in block) chars += block.call.json.length
      else if (block.part.type === 'file') files++
    return { chars, files }
  }

  /** Whether a tool input with this id has started. */
  has(callId: string): boolean {
    return this.#find(callId) !== undefined
  }
  get hasCalls(): boolean {
    return this.#calls !== undefined
  }

  /** Throws if a tool input has not ended. */
  close(): void {
    if (this.#calls === undefined) return
    for (const { start, ended } of this.#calls.values())
      if (!ended) throw this.#disorder(`left the tool input ${describe(start.callId)} without its tool-input-end`)
  }

  /** Returns the calls. Parses their arguments on every call. */
  toolCalls(): ToolCall[] {
    const calls: ToolCall[] = []
    if (this.#calls !== undefined) for (const call of this.#calls.values()) calls.push(toCall(call))
    return calls
  }

  /** Returns the answer as a message. `calls` are those of the response, so that their arguments are parsed once. */
  message(calls: readonly ToolCall[]): Message {
    this.#settle()
    const only = this.#blocks[0]
    if (only === undefined) return { role: 'assistant', content: '' }
    if (
      this.#blocks.length === 1 &&
      'part' in only &&
      only.part.type === 'text' &&
      only.part.providerMetadata === undefined
    )
      return { role: 'assistant', content: this.#text }
    let next = 0
    const content = this.#blocks.map((block): Part => {
      if ('part' in block) return block.part
      const { callId, name, args } = calls[next++] as ToolCall
      const { providerExecuted, providerMetadata, approvalRequest } = block.call.start
      return {
        type: 'tool-call',
        callId,
        name,
        args,
        ...(providerExecuted === true && { providerExecuted }),
        ...(approvalRequest !== undefined && { approvalRequest }),
        ...(providerMetadata !== undefined && { providerMetadata }),
      }
    })
    return { role: 'assistant', content }
  }

  #extend(type: 'text' | 'reasoning', chunk: TextDelta | ReasoningDelta): void {
    const { delta, id, providerMetadata } = chunk
    const known = this.#partOf(type, chunk)
    const part: Speech = known ?? { type, text: '' }
    if (known === undefined) this.#blocks.push({ part, id })
    part.text += delta
    if (providerMetadata !== undefined) part.providerMetadata = { ...part.providerMetadata, ...providerMetadata }
    if (part.type === 'text') this.#tail = { part, id }
  }

  /**
   * Returns the part that a delta continues. Without an id, that is the last part, if it is of the same kind. With an
   * id, it is the last part of the kind, if it has that id, no matter what came in between. A delta without text adds
   * metadata to the part with its id, wherever that part is.
   */
  #partOf(type: 'text' | 'reasoning', { id, delta }: TextDelta | ReasoningDelta): Speech | undefined {
    for (let i = this.#blocks.length - 1; i >= 0; i--) {
      const block = this.#blocks[i] as Block
      if ('part' in block && block.part.type === type) {
        if (block.id === id) return block.part as Speech
        if (delta !== '') return undefined
      }
      if (id === undefined) return undefined
    }
    return undefined
  }

  #extendsTail({ delta, providerMetadata }: TextDelta): boolean {
    if (this.#tail === undefined || providerMetadata !== undefined) return false
    if (this.#running === undefined) this.#running = [delta]
    else this.#running.push(delta)
    return true
  }

  #settle(): void {
    if (this.#running === undefined || this.#tail === undefined) return
    const text = this.#running.length === 1 ? this.#running[0] : this.#running.join('')
    this.#running = undefined
    this.#text += text
    this.#tail.part.text += text
  }

  #start(start: ToolInputStart): void {
    if (this.has(start.callId)) throw this.#disorder(`sent a second tool-input-start for ${describe(start.callId)}`)
    const call = { start, json: '', ended: false }
    this.#calls ??= new Map()
    this.#calls.set(start.callId, call)
    this.#last = call
    this.#blocks.push({ call })
  }

  #open(callId: string, what: string): OpenCall {
    const call = this.#find(callId)
    if (call === undefined) throw this.#disorder(`sent ${what} for ${describe(callId)} before its tool-input-start`)
    if (call.ended) throw this.#disorder(`sent ${what} for ${describe(callId)} after its tool-input-end`)
    return call
  }

  #find(callId: string): OpenCall | undefined {
    return this.#last?.start.callId === callId ? this.#last : this.#calls?.get(callId)
  }

  #disorder(what: string): AlliumError {
    return new AlliumError(
      'stream.tool_order',
      `${this.who} ${what}. Each tool input is one start, its deltas, one end.`,
    )
  }
}

function toCall({ start, json }: OpenCall): ToolCall {
  const { callId, name, providerExecuted, approvalRequest } = start
  const call: ToolCall = { callId, name, args: {} }
  if (approvalRequest !== undefined) call.approvalRequest = approvalRequest
  if (providerExecuted === true) call.providerExecuted = true
  const parsed = parseArgs(json)
  if ('invalid' in parsed) call.invalid = parsed.invalid
  else call.args = parsed.args
  return call
}
