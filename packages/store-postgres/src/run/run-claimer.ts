import type { Lease } from '@allium/core'
import type { ClaimedRun, ClaimQuery, ExpiredCalls, RunningAgent, RunStore } from '@allium/store'
import {
  type Blobs,
  type ClaimedRow,
  type OverdueScans,
  openClaims,
  openOverdueCalls,
  runSummary,
} from '@allium/store-sql'
import { columnsOf, type Database, type Row } from '../database/database.ts'
import { keyParams } from '../database/keys.ts'
import { issueLease } from '../lease/leases.ts'

/** Selects the runs that a process may claim. The leases of runs that it does not return are released or expire. */
export class RunClaimer {
  readonly #db: Database
  readonly #blobs: Blobs
  readonly #overdueScans: OverdueScans = new Map()

  constructor(db: Database, blobs: Blobs) {
    this.#db = db
    this.#blobs = blobs
  }

  async claim(query: ClaimQuery): Promise<ClaimedRun[]> {
    const { agents, ms, queues = [{ name: 'default' }], waitingOnly = false, worker = null } = query
    const options = [JSON.stringify(queues), waitingOnly, worker]
    return this.#open(query, ({ limit, alone }) =>
      this.#db.rowsOnce('claim_runs', ...agentColumns(agents), limit, ms, alone, ...options),
    )
  }

  async orphans({ agents, ms, lease, limit: most }: Parameters<RunStore['orphans']>[0]): Promise<ClaimedRun[]> {
    return this.#open({ limit: most, ms: lease }, ({ limit }) =>
      this.#db.rowsOnce('claim_orphans', ...agentColumns(agents), limit, ms, lease),
    )
  }

  async expired({ agents, limit }: Parameters<RunStore['expiredCalls']>[0]): Promise<ExpiredCalls[]> {
    const { s } = this.#db
    const sql = `select r.*, w.calls from ${s}.runs r join (
         select tenant, owner, agent, session, turn_id, array_agg(call_id order by call_id) as calls from ${s}.pending_calls
         where expires_at <= ${s}.now_ms() group by tenant, owner, agent, session, turn_id
       ) w on r.tenant = w.tenant and r.run = w.turn_id and r.owner = w.owner and r.session_agent = w.agent and r.session = w.session
       where r.agent = any ($1::text[]) and r.n > $2 order by r.n limit $3`
    const names = agents.map(({ name }) => name)
    return openOverdueCalls(this.#blobs, { agents, limit, scans: this.#overdueScans }, async (after) => {
      const rows = await this.#db.queryIdempotent(sql, names, after, limit)
      return rows.map((row) => ({ row, callIds: row.calls as readonly string[] }))
    })
  }

  /** Releases a claim as if it had not happened. */
  async release({ key, token }: Lease, run: string): Promise<void> {
    const { s } = this.#db
    await this.#db.queryIdempotent(
      `with freed as (
         update ${s}.sessions set held_until = 0
         where tenant = $1 and owner = $2 and agent = $3 and id = $4 and token = $5 and held_until > 0 returning 1
       ) update ${s}.runs set attempts = greatest(attempts - 1, 0) from freed
       where tenant = $1 and run = $6 and token = $5 and status in ('queued', 'running')`,
      ...[...keyParams(key), token, run],
    )
  }

  #open(
    of: { limit: number; ms: number; alone?: boolean },
    claim: (page: { limit: number; alone: boolean }) => Promise<Row[]>,
  ): Promise<ClaimedRun[]> {
    return openClaims(
      this.#blobs,
      // The leases end by the server's clock. How long the claim takes is measured here.
      { ...of, monotonic: () => performance.now() },
      async (page) => this.#current(await claim(page)),
      (lease, run) => this.release(lease, run),
    )
  }

  /** Returns the current rows of runs that were claimed, with their leases. */
  async #current(claimed: readonly Row[]): Promise<ClaimedRow[]> {
    if (claimed.length === 0) return []
    const sql = `select * from ${this.#db.s}.runs where n = any ($1::bigint[]) order by array_position($1::bigint[], n)`
    const numbers = claimed.map(({ n_ }) => n_)
    const rows = await this.#db.queryIdempotent(sql, numbers)
    return rows.map((row) => {
      const claim = claimed.find(({ n_ }) => n_ === row.n) as Row
      return { row, lease: issueLease(this.#db, runSummary(row).key, claim) }
    })
  }
}

/** Returns the names and the versions. */
function agentColumns(agents: readonly RunningAgent[]): unknown[][] {
  return columnsOf(
    2,
    agents.map(({ name, version }) => [name, version]),
  )
}
