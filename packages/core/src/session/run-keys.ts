import { sessionKeyOf } from '../ports/tenant.ts'
import type { AgentRun } from './agent-run.ts'
import type { SessionScope } from './scope/session-scope.ts'

interface Known {
  readonly run: AgentRun
  /** The fingerprint of the request. */
  readonly fingerprint: string
  settled: boolean
}

/** The runs of an agent by idempotency key. A repeated request gets the run of its key, through any object of the session. */
export class RunKeys {
  readonly #runs = new Map<string, Known>()
  readonly #most: number

  /** @param most the maximum number of runs to remember, without running ones */
  constructor(most = 1000) {
    this.#most = most
  }

  find(session: SessionScope, key: string): Pick<Known, 'run' | 'fingerprint'> | undefined {
    return this.#runs.get(nameOf(session, key))
  }

  remember(session: SessionScope, key: string, { run, fingerprint }: Pick<Known, 'run' | 'fingerprint'>): void {
    this.#runs.set(nameOf(session, key), { run, fingerprint, settled: false })
    if (this.#runs.size > this.#most) this.#dropOldest()
  }

  /** @param counts whether the run is final for its key, so that it is not repeated */
  settle(session: SessionScope, key: string, counts: boolean): void {
    const name = nameOf(session, key)
    const known = this.#runs.get(name)
    if (known === undefined) return
    known.settled = true
    if (!counts) this.#runs.delete(name)
  }

  #dropOldest(): void {
    for (const [name, { settled }] of this.#runs) if (settled) return void this.#runs.delete(name)
  }
}

function nameOf(session: SessionScope, key: string): string {
  return JSON.stringify([sessionKeyOf({ sessionKey: session.key }), key])
}
