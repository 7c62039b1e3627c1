import type { ProviderMetadata, ReasoningDelta, TextDelta } from '@allium/core'

/** One of `text-start`, `text-delta`, `text-end`, or the same of reasoning. */
export interface BlockPart {
  id: string
  delta?: string
  providerMetadata?: ProviderMetadata
}

type Kind = 'text' | 'reasoning'

/**
 * Text and reasoning blocks. Metadata may come with any part of a block: signatures come at its end, or with an empty
 * delta. It goes on with the block's next delta, or with an empty one at the end. Other empty deltas are left out.
 * A block that begins with the id of one that has ended is another one: it gets an id of its own.
 */
export class Blocks {
  readonly #metadata = new Map<string, ProviderMetadata>()
  readonly #untold = new Set<string>()
  /** How often a block with this id has ended. */
  readonly #ended = new Map<string, number>()

  start(kind: Kind, part: BlockPart): void {
    this.#learn(`${kind}:${this.idOf(kind, part.id)}`, part.providerMetadata)
  }

  end(kind: Kind, part: BlockPart): TextDelta | ReasoningDelta | undefined {
    const last = this.next(kind, part)
    const key = `${kind}:${part.id}`
    this.#ended.set(key, (this.#ended.get(key) ?? 0) + 1)
    return last
  }

  /** The id of the block's chunks. */
  idOf(kind: Kind, id: string): string {
    const ended = this.#ended.size === 0 ? undefined : this.#ended.get(`${kind}:${id}`)
    return ended === undefined ? id : `${id}~${ended + 1}`
  }

  /** For a delta, and for the end as a delta of nothing. */
  next(kind: Kind, part: BlockPart): TextDelta | ReasoningDelta | undefined {
    const { delta = '', providerMetadata } = part
    const id = this.idOf(kind, part.id)
    const key = `${kind}:${id}`
    this.#learn(key, providerMetadata)
    const metadata = this.#untold.delete(key) ? this.#metadata.get(key) : undefined
    if (metadata !== undefined) return { type: `${kind}-delta`, id, delta, providerMetadata: metadata }
    return delta === '' ? undefined : { type: `${kind}-delta`, id, delta }
  }

  #learn(key: string, more: ProviderMetadata | undefined): void {
    if (more === undefined) return
    this.#metadata.set(key, merge(this.#metadata.get(key) ?? {}, more))
    this.#untold.add(key)
  }
}

function merge(first: ProviderMetadata, second: ProviderMetadata): ProviderMetadata {
  const merged = { ...first }
  for (const [provider, values] of Object.entries(second)) merged[provider] = { ...first[provider], ...values }
  return merged
}
