import { Chain } from './chain.ts'
import type { Digest } from './seal.ts'
import type { AuditSink } from './sink.ts'

/** The chains of a sink: one, or one for each tenant. */
export class Chains {
  readonly #sinkOf: (tenant: string) => AuditSink
  readonly #digest: Digest
  /** Those that were asked for last come last. */
  readonly #chains = new Map<string, Chain>()
  /** Sinks that are the same have one chain, whoever asks. */
  readonly #perTenant: boolean

  constructor(sinkOf: (tenant: string) => AuditSink, digest: Digest, perTenant: boolean) {
    this.#sinkOf = sinkOf
    this.#digest = digest
    this.#perTenant = perTenant
  }

  of(tenant: string | undefined): Chain {
    const name = this.#perTenant ? (tenant ?? '') : ''
    const chain = this.#chains.get(name) ?? new Chain(this.#sinkOf(name), this.#digest)
    this.#chains.delete(name)
    this.#chains.set(name, chain)
    if (this.#chains.size > most) this.#drop()
    return chain
  }

  async flush(): Promise<void> {
    await Promise.all([...this.#chains.values()].map((chain) => chain.flush()))
  }

  /** The sink has its head: a chain that is asked for again goes on from there. */
  #drop(): void {
    for (const [name, chain] of this.#chains) if (chain.isIdle) return void this.#chains.delete(name)
  }
}

const most = 1000
