import type { ProviderMetadata, ReasoningDelta, TextDelta } from '@allium/core'

/** A `text-start`, `text-delta` or `text-end` part, or the same of reasoning. */
export interface BlockPart {
  id: string
  delta?: string
  providerMetadata?: ProviderMetadata
}

type Kind = 'text' | 'reasoning'

/**
 * Text and reasoning blocks. Metadata may arrive with any part of a block: signatures come at its end, or with an empty
 * delta. It is sent with the block's next delta, or with an empty one at the end. Other empty deltas are left out.
 * A block that reuses the id of an ended one is a new block and gets its own id.
 */
export class Blocks {
  readonly #metadata = new Map<string, ProviderMetadata>()
  /** The blocks whose latest metadata has not been sent. */
  readonly #unsent = new Set<string>()
  /** How many blocks with this id have ended. */
  readonly #endedCounts = new Map<string, number>()

  start(kind: Kind, part: BlockPart): void {
    this.#mergeMetadata(`${kind}:${this.idOf(kind, part.id)}`, part.providerMetadata)
  }

  end(kind: Kind, part: BlockPart): TextDelta | ReasoningDelta | undefined {
    const previous = this.next(kind, part)
    const key = `${kind}:${part.id}`
    this.#endedCounts.set(key, (this.#endedCounts.get(key) ?? 0) + 1)
    return previous
  }

  /** Returns the id of the block's chunks. */
  idOf(kind: Kind, id: string): string {
    const ended = this.#endedCounts.size === 0 ? undefined : this.#endedCounts.get(`${kind}:${id}`)
    return ended === undefined ? id : `${id}~${ended + 1}`
  }

  /** Returns the chunk for a delta, or for the end of a block as an empty delta. */
  next(kind: Kind, part: BlockPart): TextDelta | ReasoningDelta | undefined {
    const { delta = '', providerMetadata } = part
    const id = this.idOf(kind, part.id)
    const key = `${kind}:${id}`
    this.#mergeMetadata(key, providerMetadata)
    const metadata = this.#unsent.delete(key) ? this.#metadata.get(key) : undefined
    if (metadata !== undefined) return { type: `${kind}-delta`, id, delta, providerMetadata: metadata }
    return delta === '' ? undefined : { type: `${kind}-delta`, id, delta }
  }

  #mergeMetadata(key: string, metadata: ProviderMetadata | undefined): void {
    if (metadata === undefined) return
    this.#metadata.set(key, merge(this.#metadata.get(key) ?? {}, metadata))
    this.#unsent.add(key)
  }
}

function merge(first: ProviderMetadata, second: ProviderMetadata): ProviderMetadata {
  const merged = { ...first }
  for (const [provider, values] of Object.entries(second)) merged[provider] = { ...first[provider], ...values }
  return merged
}
