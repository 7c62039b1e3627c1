import type { Clock, EventLog, SessionStore } from '@allium/core'

interface Probed {
  readonly sessions: SessionStore
  readonly events: EventLog
  readonly clock: Clock
}

/** Milliseconds that the stores have to answer, and that an answer holds, so that nobody can make a server ask them often. */
const [patience, freshness] = [2000, 1000]

/** Whether the stores of a server answer. */
export class Readiness {
  readonly #probed: Probed
  #asked: { at: number; answer: Promise<boolean> } | undefined

  constructor(probed: Probed) {
    this.#probed = probed
  }

  /** False where a store fails, or is silent for two seconds. The answer may be a second old. */
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
