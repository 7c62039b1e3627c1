import type { Lease, SessionKey } from '@allium/core'
import { agentOf, bytesOf, heldElsewhere, type Sealer } from '@allium/store-sql'
import type { Database, Row } from './database.ts'
import { ofSession } from './forget.ts'
import { at, type Leases, where } from './leases.ts'
import type { SharedClock } from './sqlite-clock.ts'

/** Sessions of earlier versions that one list looks at. */
const most = 100

/** Sessions that get another agent in their key: those of a renamed agent, and those of earlier versions, which had none. */
export class Renames {
  readonly #db: Database
  readonly #clock: SharedClock
  readonly #leases: Leases
  readonly #sealer: Sealer
  /** Whether there are sessions of earlier versions: none are added. */
  #hasUnclaimed: boolean | undefined

  constructor(db: Database, clock: SharedClock, leases: Leases, sealer: Sealer) {
    this.#db = db
    this.#clock = clock
    this.#leases = leases
    this.#sealer = sealer
  }

  adopt(key: SessionKey, names: readonly string[], lease: Lease | undefined): Promise<boolean> {
    const others = names.filter((agent) => agent !== key.agent)
    if (others.length === 0) return Promise.resolve(false)
    return this.#db.writeTogether(() => {
      const there = this.#leases.session(key)
      if (there !== undefined && (!isEmpty(there) || this.#leases.left(there) > 0)) return false
      for (const agent of others) {
        const from = { ...key, agent }
        const row = this.#leases.session(from)
        if (row === undefined || (isEmpty(row) && row.token !== lease?.token)) continue
        const left = this.#leases.left(row)
        if (left > 0 && row.token !== lease?.token) throw heldElsewhere(key, this.#clock.now() + left)
        this.#move(from, key.agent)
        return true
      }
      return false
    })
  }

  /** Before a session is opened: one of an earlier version belongs to the agent of its last turn from now on. */
  async claim({ tenant, owner, sessionId }: Omit<SessionKey, 'agent'>): Promise<void> {
    if (this.#isDone()) return
    await this.#claim({ tenant, owner, agent: '', sessionId })
  }

  /** Before sessions are listed: as many of them, where their last turns can be opened. */
  async claimSome(tenant: string, owner?: string): Promise<void> {
    if (this.#isDone()) return
    const rows = this.#db.all(
      `select owner, id from sessions where agent = '' and tenant = ? and (? is null or owner = ?) order by owner, id limit ?`,
      ...[tenant, owner ?? null, owner ?? null, most],
    )
    for (const row of rows) {
      const key = { tenant, owner: String(row.owner), agent: '', sessionId: String(row.id) }
      // What cannot be opened now is listed once it can be.
      await this.#claim(key).catch(() => {})
    }
  }

  #isDone(): boolean {
    if (this.#hasUnclaimed !== false)
      this.#hasUnclaimed = this.#db.get(`select 1 from sessions where agent = '' limit 1`) !== undefined
    return !this.#hasUnclaimed
  }

  async #claim(key: SessionKey): Promise<void> {
    const row = this.#db.get(
      `select turn_id, info, sealed_as from turns where ${ofSession} order by seq < 0, seq desc limit 1`,
      ...at(key),
    )
    if (row === undefined) return
    const sealed = { turnId: String(row.turn_id), sealedAs: String(row.sealed_as), info: bytesOf(row.info) }
    const agent = await agentOf(key, sealed, this.#sealer)
    await this.#db.writeTogether(() => {
      const isThere = this.#leases.session({ ...key, agent }) !== undefined
      if (!isThere && this.#leases.session(key) !== undefined) this.#move(key, agent)
    })
  }

  /** Its events are dropped: they are sealed under the old name, and nobody would look for them. */
  #move(from: SessionKey, agent: string): void {
    const old = at(from)
    for (const table of ['events', 'event_signals'])
      this.#db.run(`delete from ${table} where run in (select run from event_runs where ${ofSession})`, ...old)
    this.#db.run(`delete from event_runs where ${ofSession}`, ...old)
    this.#db.run(`delete from sessions where ${where}`, ...at({ ...from, agent }))
    this.#db.run(`update sessions set agent = ? where ${where}`, agent, ...old)
    for (const table of ['turns', 'waiting', 'vault', 'blob_holders'])
      this.#db.run(`update or replace ${table} set agent = ? where ${ofSession}`, agent, ...old)
    const ofRuns = ofSession.replace('agent', 'session_agent')
    this.#db.run(`update or replace runs set session_agent = ? where ${ofRuns}`, agent, ...old)
  }
}

/** Whether it was only taken. */
function isEmpty({ version, open_turn }: Row): boolean {
  return Number(version) === 0 && open_turn === null
}
