import { providerResult } from '../messages/calls.ts'
import type { Message, Part, ReasoningPart, TextPart } from '../messages/message.ts'
import type { ContentChunk, ReasoningDelta, TextDelta } from '../model/chunk.ts'
import type { Size } from '../model/estimate.ts'
import type { ModelResponse, ToolCall } from '../model/response.ts'
import { type ToolInput, ToolInputs } from './tool-inputs.ts'

type Speech = TextPart | ReasoningPart
type Block = { part: Part; id: string | undefined } | { input: ToolInput }

/** The parts of a response that its chunks contain. */
type Content = Pick<ModelResponse, 'text' | 'reasoning' | 'toolCalls' | 'message'>

/** Builds an answer from its chunks. */
export class Assembly {
  #text = ''
  /** Pieces of the running text block since it was last read. Joining them once is cheaper than appending one by one. */
  #running: string[] | undefined
  #tail: { part: TextPart; id: string | undefined } | undefined
  #reasoning: string | undefined
  readonly #blocks: Block[] = []
  #inputs: ToolInputs | undefined

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
        this.#blocks.push({ input: this.#toolInputs.start(chunk) })
        return
      case 'tool-input-delta':
        return this.#toolInputs.extend(chunk)
      case 'tool-input-end':
        return this.#toolInputs.end(chunk)
      case 'tool-result':
      case 'custom':
      case 'file': {
        const { id: _id, ...part } = chunk
        this.#blocks.push({ part: part.type === 'tool-result' ? providerResult(part) : part, id: undefined })
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
      if ('input' in block) chars += block.input.json.length
      else if (block.part.type === 'file') files++
    return { chars, files }
  }

  /** Whether a tool input with this id has started. */
  has(callId: string): boolean {
    return this.#inputs?.has(callId) === true
  }
  get hasCalls(): boolean {
    return this.#inputs !== undefined
  }

  /** Throws if a tool input has not ended. */
  close(): void {
    this.#inputs?.close()
  }

  /** Returns the calls. Parses their arguments on every call. */
  toolCalls(): ToolCall[] {
    return this.#inputs?.calls() ?? []
  }

  /** Returns the answer. Parses the arguments of its calls on every call. */
  content(): Content {
    this.#settle()
    const toolCalls = this.toolCalls()
    const content: Content = { text: this.#text, toolCalls, message: this.#message(toolCalls) }
    if (this.#reasoning !== undefined) content.reasoning = this.#reasoning
    return content
  }

  /** Returns the answer as a message. `calls` are those of the content, so that their arguments are parsed once. */
  #message(calls: readonly ToolCall[]): Message {
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
      const { invalid: _, ...call } = calls[next++] as ToolCall
      const { providerMetadata } = block.input.start
      return { type: 'tool-call', ...call, ...(providerMetadata !== undefined && { providerMetadata }) }
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

  /** Created for the first chunk of a tool input, because most answers have none. */
  get #toolInputs(): ToolInputs {
    return (this.#inputs ??= new ToolInputs(this.who))
  }
}
