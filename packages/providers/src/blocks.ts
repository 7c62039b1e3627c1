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
 */
export class Blocks {
  readonly #metadata = new Map<string, ProviderMetadata>()
  readonly #untold = new Set<string>()

  start(kind: Kind, part: BlockPart): void {
    this.#learn(`${kind}:${part.id}`, part.providerMetadata)
  }

  /** For a delta, and for the end as a delta of nothing. */
  next(kind: Kind, { id, delta = '', providerMetadata }: BlockPart): TextDelta | ReasoningDelta | undefined {
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
