import type { Clock } from '@allium/core'
import type { EventLog, SessionStore } from '@allium/store'

interface ProbeTargets {
  readonly sessions: SessionStore
  readonly events: EventLog
  readonly clock: Clock
}

/** Milliseconds: the timeout of a probe, and how long its result is cached. The cache bounds the load that probes put on the stores. */
const [probeTimeout, cacheTtl] = [2000, 1000]

/** Probes the stores of a server. */
export class Readiness {
  readonly #targets: ProbeTargets
  #cached: { checkedAt: number; answer: Promise<boolean> } | undefined

  constructor(targets: ProbeTargets) {
    this.#targets = targets
  }

  /** Resolves to false when a store fails or does not answer within two seconds. The result may be one second old. */
  check(): Promise<boolean> {
    const now = this.#targets.clock.now()
    if (this.#cached === undefined || now - this.#cached.checkedAt >= cacheTtl)
      this.#cached = { checkedAt: now, answer: this.#probe() }
    return this.#cached.answer
  }

  async #probe(): Promise<boolean> {
    const { sessions, events, clock } = this.#targets
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
