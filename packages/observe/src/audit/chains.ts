import { Chain } from './chain.ts'
import type { Digest } from './seal.ts'
import type { AuditSink } from './sink.ts'
import { type AuditSinkInput, isPerTenant, toSinks } from './to-sink.ts'

/** The chains of a sink: one, or one per tenant. */
export class Chains {
  readonly #sinkFor: (tenant: string) => AuditSink
  readonly #digest: Digest
  /** The most recently used come last. */
  readonly #chains = new Map<string, Chain>()
  /** All callers of the same sink share one chain. */
  readonly #perTenant: boolean

  constructor(sink: AuditSinkInput, digest: Digest) {
    this.#sinkFor = toSinks(sink)
    this.#digest = digest
    this.#perTenant = isPerTenant(sink)
  }

  for(tenant: string | undefined): Chain {
    const name = this.#perTenant ? (tenant ?? '') : ''
    const chain = this.#chains.get(name) ?? new Chain(this.#sinkFor(name), this.#digest)
    this.#chains.delete(name)
    this.#chains.set(name, chain)
    if (this.#chains.size > maxChains) this.#evict()
    return chain
  }

  async flush(): Promise<void> {
    await Promise.all([...this.#chains.values()].map((chain) => chain.flush()))
  }

  /** Evicts an idle chain. The sink has its head, so a later chain continues from there. */
  #evict(): void {
    for (const [name, chain] of this.#chains) if (chain.isIdle) return void this.#chains.delete(name)
  }
}

const maxChains = 1000
