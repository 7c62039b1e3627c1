import type { SessionScope } from '../rings/session/session-scope.ts'
import { sessionKeyOf } from '../seams/tenant.ts'
import type { AgentRun } from './agent-run.ts'

interface Known {
  readonly run: AgentRun
  settled: boolean
}

/** The runs of an agent by idempotency key: who asks again, with whichever object of the session, gets the run of that key. */
export class RunKeys {
  readonly #runs = new Map<string, Known>()
  readonly #most: number

  /** @param most runs that are known at most, those under way not counted */
  constructor(most = 1000) {
    this.#most = most
  }

  find(session: SessionScope, key: string): AgentRun | undefined {
    return this.#runs.get(nameOf(session, key))?.run
  }

  remember(session: SessionScope, key: string, run: AgentRun): void {
    this.#runs.set(nameOf(session, key), { run, settled: false })
    if (this.#runs.size > this.#most) this.#dropOldest()
  }

  /** @param counts whether the run is the one of its key from now on, so that it is not repeated */
  settle(session: SessionScope, key: string, counts: boolean): void {
    const name = nameOf(session, key)
    const known = this.#runs.get(name)
    if (known === undefined) return
    known.settled = true
    if (!counts) this.#runs.delete(name)
  }

  #dropOldest(): void {
    for (const [name, { settled }] of this.#runs)
      if (settled) {
        this.#runs.delete(name)
        return
      }
  }
}

function nameOf(session: SessionScope, key: string): string {
  const { id: sessionId, principal, owner } = session
  return JSON.stringify([sessionKeyOf({ principal, owner, sessionId }), key])
}
