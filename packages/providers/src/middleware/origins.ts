import type { Message, Part } from '@allium/core'
import type { PromptPart } from '../prompt-context.ts'
import { keyOf } from './key-of.ts'

/** The original messages and parts of the converted prompt. A piece that comes back unchanged becomes its original. */
export class Origins {
  readonly #of = new Map<PromptPart, (Message | Part)[]>()
  #known: Map<string, (Message | Part)[][]> | undefined

  readonly note = (piece: PromptPart, origin: Message | Part): void => {
    const all = this.#of.get(piece)
    if (all === undefined) this.#of.set(piece, [origin])
    else all.push(origin)
  }

  /** Called when everything is recorded and nothing has been changed yet. */
  seal(): void {
    this.#known = new Map()
    for (const [piece, origins] of this.#of) {
      const key = keyOf(piece)
      const all = this.#known.get(key)
      if (all === undefined) this.#known.set(key, [origins])
      else all.push(origins)
    }
  }

  /** Equal pieces get their own originals, in order. */
  of(piece: PromptPart): (Message | Part)[] | undefined {
    const all = this.#known?.get(keyOf(piece))
    return all !== undefined && all.length > 1 ? all.shift() : all?.[0]
  }
}
