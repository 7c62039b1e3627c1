import type { Runtime, StoreReader } from '../host/host.ts'

/** Milliseconds: the timeout of a probe, and how long its result is cached. The cache bounds the load that probes put on the stores. */
const [probeTimeout, cacheTtl] = [2000, 1000]

/** Probes the stores of a server. */
export class Readiness {
  readonly #host: StoreReader & Runtime
  #cached: { checkedAt: number; answer: Promise<boolean> } | undefined

  constructor(host: StoreReader & Runtime) {
    this.#host = host
  }

  /** Resolves to false when a store fails or does not answer within two seconds. The result may be one second old. */
  check(): Promise<boolean> {
    const now = this.#host.clock.now()
    if (this.#cached === undefined || now - this.#cached.checkedAt >= cacheTtl)
      this.#cached = { checkedAt: now, answer: this.#probe() }
    return this.#cached.answer
  }

  async #probe(): Promise<boolean> {
    const { sessions, events, clock } = this.#host
    const key = { tenant: 'readyz', owner: 'readyz', agent: 'readyz', sessionId: 'readyz' }
    const probe = async () => Promise.all([sessions.list({ tenant: key.tenant, limit: 1 }), events.latest(key)])
    const result = probe().then(
      () => true,
      () => false,
    )
    return await new Promise<boolean>((resolve) => {
      const stop = clock.after(probeTimeout, () => resolve(false), { idle: true })
      void result.then(resolve).finally(stop)
    })
  }
}
