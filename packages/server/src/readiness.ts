import type { Clock, EventLog, SessionStore } from '@allium/core'

interface Probed {
  readonly sessions: SessionStore
  readonly events: EventLog
  readonly clock: Clock
}

/** Milliseconds: the timeout of a probe, and how long its result is cached. The cache bounds the load that probes put on the stores. */
const [patience, freshness] = [2000, 1000]

/** Probes the stores of a server. */
export class Readiness {
  readonly #probed: Probed
  #asked: { at: number; answer: Promise<boolean> } | undefined

  constructor(probed: Probed) {
    this.#probed = probed
  }

  /** Resolves to false when a store fails or does not answer within two seconds. The result may be one second old. */
  check(): Promise<boolean> {
    const now = this.#probed.clock.now()
    if (this.#asked === undefined || now - this.#asked.at >= freshness) this.#asked = { at: now, answer: this.#ask() }
    return this.#asked.answer
  }

  async #ask(): Promise<boolean> {
    const { sessions, events, clock } = this.#probed
    const key = { tenant: 'readyz', owner: 'readyz', agent: 'readyz', sessionId: 'readyz' }
    const asked = async () => Promise.all([sessions.list({ tenant: key.tenant, limit: 1 }), events.latest(key)])
    const answered = asked().then(
      () => true,
      () => false,
    )
    return await new Promise<boolean>((resolve) => {
      const stop = clock.after(patience, () => resolve(false), { idle: true })
      void answered.then(resolve).finally(stop)
    })
  }
}
