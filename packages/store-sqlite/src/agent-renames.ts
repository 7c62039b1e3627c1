import type { Lease, SessionKey } from '@allium/core'
import { agentOfTurn, heldByOtherAgent, type Sealer, toBytes } from '@allium/store-sql'
import type { Database, Row } from './database.ts'
import { sessionMatches } from './delete-session.ts'
import { keyParams, type Leases, leaseMatches } from './leases.ts'
import type { SharedClock } from './machine-clock.ts'

/** The maximum number of sessions of earlier versions that one list claims. */
const maxClaimsPerList = 100

/** Moves sessions to another agent: those of a renamed agent, and those of earlier versions, which had no agent. */
export class AgentRenames {
  readonly #db: Database
  readonly #clock: SharedClock
  readonly #leases: Leases
  readonly #sealer: Sealer
  /** Whether there are sessions of earlier versions. None are added. */
  #hasUnclaimed: boolean | undefined

  constructor(db: Database, clock: SharedClock, leases: Leases, sealer: Sealer) {
    this.#db = db
    this.#clock = clock
    this.#leases = leases
    this.#sealer = sealer
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

  /** Runs before a session is opened. Assigns a session of an earlier version to the agent of its last turn. */
  async claimUnassigned({ tenant, owner, sessionId }: Omit<SessionKey, 'agent'>): Promise<void> {
    if (this.#allClaimed()) return
    await this.#claimSession({ tenant, owner, agent: '', sessionId })
  }

  /** Runs before sessions are listed. Assigns a batch of such sessions, as far as their last turns can be opened. */
  async claimUnassignedBatch(tenant: string, owner?: string): Promise<void> {
    if (this.#allClaimed()) return
    const rows = this.#db.all(
      `select owner, id from sessions where agent = '' and tenant = ? and (? is null or owner = ?) order by owner, id limit ?`,
      ...[tenant, owner ?? null, owner ?? null, maxClaimsPerList],
    )
    for (const row of rows) {
      const key = { tenant, owner: String(row.owner), agent: '', sessionId: String(row.id) }
      // A session that cannot be opened now is listed later.
      await this.#claimSession(key).catch(() => {})
    }
  }

  #allClaimed(): boolean {
    if (this.#hasUnclaimed !== false)
      this.#hasUnclaimed = this.#db.get(`select 1 from sessions where agent = '' limit 1`) !== undefined
    return !this.#hasUnclaimed
  }

  async #claimSession(key: SessionKey): Promise<void> {
    const row = this.#db.get(
      `select turn_id, info, sealed_as from turns where ${sessionMatches} order by seq < 0, seq desc limit 1`,
      ...keyParams(key),
    )
    if (row === undefined) return
    const sealed = { turnId: String(row.turn_id), sealedAs: String(row.sealed_as), info: toBytes(row.info) }
    const agent = await agentOfTurn(key, sealed, this.#sealer)
    await this.#db.writeInGroup(() => {
      const alreadyExists = this.#leases.session({ ...key, agent }) !== undefined
      if (!alreadyExists && this.#leases.session(key) !== undefined) this.#moveSession(key, agent)
    })
  }

  /** Its events are deleted, because they are sealed under the old name and no reader would look for them. */
  #moveSession(from: SessionKey, agent: string): void {
    const oldKey = keyParams(from)
    this.#db.run(`delete from event_runs where ${sessionMatches}`, ...oldKey)
    this.#db.run(`delete from sessions where ${leaseMatches}`, ...keyParams({ ...from, agent }))
    this.#db.run(`update sessions set agent = ? where ${leaseMatches}`, agent, ...oldKey)
    for (const table of ['turns', 'waiting', 'vault', 'blob_holders'])
      this.#db.run(`update or replace ${table} set agent = ? where ${sessionMatches}`, agent, ...oldKey)
    const runCondition = sessionMatches.replace('agent', 'session_agent')
    this.#db.run(`update or replace runs set session_agent = ? where ${runCondition}`, agent, ...oldKey)
  }
}

/** Whether the session was only leased and has no content. */
function isEmpty({ version, open_turn }: Row): boolean {
  return Number(version) === 0 && open_turn === null
}
