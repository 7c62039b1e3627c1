import type { Message, Part } from '@allium/core'
import type { PromptPart } from '../prompt.ts'
import { keyOf } from './key-of.ts'

/** What messages and parts were before they were put in the words of the AI SDK: what comes back unchanged is what it was. */
export class Origins {
  readonly #of = new Map<PromptPart, (Message | Part)[]>()
  #known: Map<string, (Message | Part)[][]> | undefined

  readonly note = (piece: PromptPart, origin: Message | Part): void => {
    const all = this.#of.get(piece)
    if (all === undefined) this.#of.set(piece, [origin])
    else all.push(origin)
  }

  /** Everything is noted, and nobody has changed a piece yet. */
  seal(): void {
    this.#known = new Map()
    for (const [piece, origins] of this.#of) {
      const key = keyOf(piece)
      const all = this.#known.get(key)
      if (all === undefined) this.#known.set(key, [origins])
      else all.push(origins)
    }
  }

  /** Of equal pieces each gets its own origin, in their order. */
  of(piece: PromptPart): (Message | Part)[] | undefined {
    const all = this.#known?.get(keyOf(piece))
    return all !== undefined && all.length > 1 ? all.shift() : all?.[0]
  }
}
