import type { Lease, SessionKey } from '@allium/core'
import { agentOfTurn, heldByOtherAgent, type Sealer, toBytes } from '@allium/store-sql'
import type { Database } from './database.ts'
import { keyParams, tenantMatches } from './keys.ts'

/** The maximum number of sessions of earlier versions that one list claims. */
const maxClaimsPerList = 100

/** Moves sessions to another agent: those of a renamed agent, and those of earlier versions, which had no agent. */
export class AgentRenames {
  readonly #db: Database
  readonly #sealer: Sealer

  constructor(db: Database, sealer: Sealer) {
    this.#db = db
    this.#sealer = sealer
  }

  async adopt(key: SessionKey, names: readonly string[], lease: Lease | undefined): Promise<boolean> {
    const otherNames = names.filter((agent) => agent !== key.agent)
    if (otherNames.length === 0) return false
    const [row] = await this.#db.queryIdempotent(
      `select * from ${this.#db.s}.adopt_session($1, $2, $3, $4, $5, $6)`,
      ...[...keyParams(key), otherNames, lease?.token ?? null],
    )
    if (row?.outcome_ === 'held') throw heldByOtherAgent(key, Math.ceil(Number(row.held_until_)))
    return row?.outcome_ === 'moved'
  }

  /** Runs before a session is opened. Assigns a session of an earlier version to the agent of its last turn. */
  async claimUnassigned({ tenant, owner, sessionId }: Omit<SessionKey, 'agent'>): Promise<void> {
    if (await this.#allClaimed()) return
    await this.#claimSession({ tenant, owner, agent: '', sessionId })
  }

  /** Runs before sessions are listed. Assigns a batch of such sessions, as far as their last turns can be opened. */
  async claimUnassignedBatch(tenant: string, owner?: string): Promise<void> {
    if (await this.#allClaimed()) return
    const rows = await this.#db.queryIdempotent(
      `select owner, id from ${this.#db.s}.sessions where agent = '' and ${tenantMatches('$1')} and ($2::text is null or owner = $2)
       order by owner, id limit ${maxClaimsPerList}`,
      ...[tenant, owner ?? null],
    )
    for (const row of rows) {
      const key = { tenant, owner: String(row.owner), agent: '', sessionId: String(row.id) }
      // A session that cannot be opened now is listed later.
      await this.#claimSession(key).catch(() => {})
    }
  }

  async #allClaimed(): Promise<boolean> {
    await this.#db.ready()
    if (!this.#db.hasUnclaimed) return true
    const rows = await this.#db.queryIdempotent(`select 1 from ${this.#db.s}.sessions where agent = '' limit 1`)
    this.#db.hasUnclaimed = rows.length > 0
    return !this.#db.hasUnclaimed
  }

  async #claimSession(key: SessionKey): Promise<void> {
    const { s } = this.#db
    const [row] = await this.#db.queryIdempotent(
      `select turn_id, info, sealed_as from ${s}.turns where tenant = $1 and owner = $2 and agent = $3 and session = $4
       order by seq < 0, seq desc limit 1`,
      ...keyParams(key),
    )
    if (row === undefined) return
    const sealed = { turnId: String(row.turn_id), sealedAs: String(row.sealed_as), info: toBytes(row.info) }
    const agent = await agentOfTurn(key, sealed, this.#sealer)
    await this.#db.queryIdempotent(`select ${s}.claim_session($1, $2, $3, $4)`, ...keyParams({ ...key, agent }))
  }
}
