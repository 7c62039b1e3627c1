import type { Lease, SessionKey } from '@allium/core'
import { heldByOtherAgent } from '@allium/store'
import type { Database, Row } from '../database/database.ts'
import type { SharedClock } from '../database/machine-clock.ts'
import { sessionMatches } from '../lease/delete-session.ts'
import { keyParams, type Leases, leaseMatches } from '../lease/leases.ts'

/** Moves the sessions of a renamed agent. */
export class AgentRenames {
  readonly #db: Database
  readonly #clock: SharedClock
  readonly #leases: Leases

  constructor(db: Database, clock: SharedClock, leases: Leases) {
    this.#db = db
    this.#clock = clock
    this.#leases = leases
  }

  adopt(key: SessionKey, names: readonly string[], lease: Lease | undefined): Promise<boolean> {
    const otherNames = names.filter((agent) => agent !== key.agent)
    if (otherNames.length === 0) return Promise.resolve(false)
    return this.#db.writeInGroup(() => {
      const existing = this.#leases.session(key)
      if (existing !== undefined && (!isEmpty(existing) || this.#leases.remaining(existing) > 0)) return false
      for (const agent of otherNames) {
        const from = { ...key, agent }
        const row = this.#leases.session(from)
        if (row === undefined || (isEmpty(row) && row.token !== lease?.token)) continue
        const remaining = this.#leases.remaining(row)
        if (remaining > 0 && row.token !== lease?.token) throw heldByOtherAgent(key, this.#clock.now() + remaining)
        this.#moveSession(from, key.agent)
        return true
      }
      return false
    })
  }

  /** Its events are deleted, because they are sealed under the old name and no reader would look for them. */
  #moveSession(from: SessionKey, agent: string): void {
    const oldKey = keyParams(from)
    this.#db.run(`delete from event_runs where ${sessionMatches}`, ...oldKey)
    this.#db.run(`delete from sessions where ${leaseMatches}`, ...keyParams({ ...from, agent }))
    this.#db.run(`update sessions set agent = ? where ${leaseMatches}`, agent, ...oldKey)
    for (const table of ['turns', 'pending_calls', 'vault', 'blob_holders', 'recordings', 'feedback', 'passages'])
      this.#db.run(`update or replace ${table} set agent = ? where ${sessionMatches}`, agent, ...oldKey)
    const runCondition = sessionMatches.replace('agent', 'session_agent')
    this.#db.run(`update or replace runs set session_agent = ? where ${runCondition}`, agent, ...oldKey)
  }
}

/** Whether the session was only leased and has no content. */
function isEmpty({ version, open_turn }: Row): boolean {
  return Number(version) === 0 && open_turn === null
}
