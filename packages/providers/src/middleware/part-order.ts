import { AlliumError } from '@allium/core'
import type { StreamPart } from './ai-sdk-middleware.ts'

/** Checks that a middleware follows the order of AI SDK streams: a block starts, continues and ends; the finish is last. */
export class PartOrder {
  readonly #open = new Set<string>()
  readonly #inputs = new Set<string>()
  #finished = false

  constructor(readonly layer: string) {}

  /**
   * Returns the part if it is valid here; undefined if it is to be skipped.
   *
   * @throws AlliumError `stream.tool_order` for tool inputs, `layer.result` for anything else; both name the layer
   */
  check(value: unknown): StreamPart | undefined {
    if (typeof value !== 'object' || value === null || typeof (value as StreamPart).type !== 'string')
      throw this.#wrong('a value that is not a stream part')
    const part = value as StreamPart
    if (this.#finished && part.type !== 'raw') throw this.#wrong(`a ${part.type} after its finish`)
    const { id } = part
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start':
        return this.#begin(part)
      case 'text-delta':
      case 'reasoning-delta':
        if (this.#open.has(keyOf(part))) return part
        throw this.#wrong(`a ${part.type} for the block ${quoted(id)}, which is not open`)
      // An extra end is harmless: extractReasoningMiddleware ends empty reasoning that it never started.
      case 'text-end':
      case 'reasoning-end':
        return this.#open.delete(keyOf(part)) ? part : undefined
      case 'tool-input-start':
        if (this.#inputs.has(String(id)))
          throw this.#wrong(`a second tool-input-start for the call ${quoted(id)}`, true)
        this.#inputs.add(String(id))
        return part
      case 'tool-input-delta':
      case 'tool-input-end':
        if (this.#inputs.has(String(id))) return part
        throw this.#wrong(`a ${part.type} for the call ${quoted(id)}, which has no tool-input-start`, true)
      case 'finish':
        this.#finished = true
    }
    return part
  }

  #begin(part: StreamPart): StreamPart {
    const key = keyOf(part)
    if (this.#open.has(key)) throw this.#wrong(`a second ${part.type} for the open block ${quoted(part.id)}`)
    this.#open.add(key)
    return part
  }

  #wrong(what: string, isTool = false): AlliumError {
    const { layer } = this
    return new AlliumError(
      isTool ? 'stream.tool_order' : 'layer.result',
      `Layer "${layer}" (model): its middleware sent ${what}. A block has a start, its deltas and an end, and a finish comes last.`,
      { details: { layer, scope: 'model' } },
    )
  }
}

function keyOf({ type, id }: StreamPart): string {
  return `${type.split('-', 1)[0]}:${String(id)}`
}

function quoted(id: unknown): string {
  return JSON.stringify(id) ?? 'undefined'
}
