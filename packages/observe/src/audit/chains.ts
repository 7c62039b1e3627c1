import { Chain } from './chain.ts'
import type { Digest } from './seal.ts'
import type { AuditSink, AuditSinks } from './sink.ts'
import { type AuditSinkInput, toSink } from './to-sink.ts'

/** The chains of a sink: one, or one per tenant. */
export class Chains {
  readonly #sink: AuditSink | AuditSinks
  readonly #digest: Digest
  /** The most recently used come last. */
  readonly #chains = new Map<string, Chain>()

  constructor(sink: AuditSinkInput, digest: Digest) {
    this.#sink = toSink(sink)
    this.#digest = digest
  }

  /** Returns the chain of a tenant. All callers of the same sink share one chain. */
  for(tenant = ''): Chain {
    const name = 'chainOf' in this.#sink ? tenant : ''
    const chain = this.#chains.get(name) ?? this.#open(name)
    this.#chains.delete(name)
    this.#chains.set(name, chain)
    if (this.#chains.size > maxChains) this.#evict()
    return chain
  }

  async flush(): Promise<void> {
    await Promise.all([...this.#chains.values()].map((chain) => chain.flush()))
  }

  #open(name: string): Chain {
    return new Chain('chainOf' in this.#sink ? this.#sink.chainOf(name) : this.#sink, this.#digest)
  }

  /** Evicts an idle chain. The sink has its head, so a later chain continues from there. */
  #evict(): void {
    for (const [name, chain] of this.#chains) if (chain.isIdle) return void this.#chains.delete(name)
  }
}

const maxChains = 1000
