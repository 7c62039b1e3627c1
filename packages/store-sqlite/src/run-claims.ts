import type { Lease, SessionKey } from '@allium/core'
import type { ClaimedRun, ExpiredCalls, RunningAgent, RunStore } from '@allium/store'
import { type Blobs, type ClaimedRow, openClaims, openOverdueCalls } from '@allium/store-sql'
import type { Database, Row, Value } from './database.ts'
import type { Leases } from './leases.ts'
import type { SharedClock } from './machine-clock.ts'

/** A run with this many attempts and no new step is only started alone, because it may be what crashes its process. */
const maxSharedAttempts = 3

const sessionJoin = 's.tenant = r.tenant and s.owner = r.owner and s.agent = r.session_agent and s.id = r.session'
/** Whether a step was recorded since the run was last claimed. */
const hasProgressed = 'exists (select 1 from steps p where p.tenant = r.tenant and p.run = r.run and p.token = r.token)'

type Claim = Parameters<RunStore['claim']>[0]

/** Selects the runs that a process may claim. */
export class RunClaimer {
  readonly #db: Database
  readonly #clock: SharedClock
  readonly #leases: Leases
  readonly #blobs: Blobs

  constructor(db: Database, clock: SharedClock, leases: Leases, blobs: Blobs) {
    this.#db = db
    this.#clock = clock
    this.#leases = leases
    this.#blobs = blobs
  }

  async claim(query: Claim): Promise<ClaimedRun[]> {
    return openClaims(
      this.#blobs,
      query,
      (page) => this.#claimRows({ ...query, ...page }),
      (lease, run) => this.#release(lease, run),
    )
  }

  #claimRows(query: Claim): ClaimedRow[] {
    return this.#db.write(() => {
      const claimedRows: ClaimedRow[] = []
      for (const row of this.#dueRuns(query)) {
        const attempts = row.status === 'queued' || row.progressed === 1 ? 1 : Number(row.attempts) + 1
        const mustRunAlone = isLive(row) && attempts >= maxSharedAttempts
        if (mustRunAlone && claimedRows.length > 0) continue
        const lease = this.#acquire(row, attempts, query.ms)
        if (lease !== undefined)
          claimedRows.push({ row: { ...row, ...(isLive(row) && { attempts, status: 'running' }) }, lease })
        if (mustRunAlone && lease !== undefined) break
      }
      return claimedRows
    })
  }

  async orphans({ agents, ms, lease, limit }: Parameters<RunStore['orphans']>[0]): Promise<ClaimedRun[]> {
    const claimRows = (limit: number) =>
      this.#db.write(() =>
        this.#orphanedRuns(agents, this.#clock.now() - ms, limit)
          .filter((row) => this.#isAbandoned(row, ms))
          .flatMap((row): ClaimedRow[] => {
            const acquired = this.#acquire(row, Number(row.attempts), lease)
            return acquired === undefined ? [] : [{ row: { ...row, status: 'running' }, lease: acquired }]
          }),
      )
    return openClaims(
      this.#blobs,
      { limit, ms: lease },
      (page) => claimRows(page.limit),
      (lease, run) => this.#release(lease, run),
    )
  }

  async expired({ agents, limit }: Parameters<RunStore['expiredCalls']>[0]): Promise<ExpiredCalls[]> {
    const rowsAfter = (after: number) =>
      this.#db.all(
        `select r.*, json_group_array(w.call_id) as calls from waiting w
       join runs r on r.tenant = w.tenant and r.run = w.turn_id and r.owner = w.owner and r.session_agent = w.agent
       and r.session = w.session
       where w.expires_at <= ? and r.agent in (select value ->> 0 from json_each(?)) and r.n > ?
       group by r.n order by r.n limit ?`,
        ...[this.#clock.now(), agentParams(agents), after, limit],
      )
    return openOverdueCalls(this.#blobs, limit, (after) =>
      rowsAfter(after).map((row) => ({ row, callIds: JSON.parse(String(row.calls)) as string[] })),
    )
  }

  /** Releases a claim as if it had not happened, because the run has not started. */
  #release(lease: Lease, run: string): void {
    this.#db.write(() => {
      const liveCondition = `tenant = ? and run = ? and token = ? and status in ('queued', 'running')`
      this.#db.run(
        `update runs set attempts = max(0, attempts - 1) where ${liveCondition}`,
        lease.key.tenant,
        run,
        lease.token,
      )
      this.#leases.release(lease)
    })
  }

  #dueRuns({ agents, limit, ms, alone: isIdle }: Claim): Row[] {
    const now = this.#clock.now()
    return this.#db.all(
      `select r.*, ${hasProgressed} as progressed from runs r left join sessions s on ${sessionJoin}
       where r.told = 0 and r.run_at <= ? and (r.agent, r.version) in (select value ->> 0, value ->> 1 from json_each(?))
       and (r.status in ('queued', 'running') or r.updated_at <= ?)
       and (s.run is null or s.run = r.run)
       and (s.held_until is null or s.boot <> ? or s.held_until <= ?)
       and (? or r.status <> 'running' or r.attempts + 1 < ${maxSharedAttempts} or ${hasProgressed})
       order by r.n limit ?`,
      ...[now, agentParams(agents), now - ms, this.#clock.boot, this.#clock.monotonic(), isIdle ? 1 : 0, limit],
    )
  }

  #acquire(row: Row, attempts: number, ms: number): ClaimedRun['lease'] | undefined {
    const key = keyFromRow(row)
    const { lease } = this.#leases.acquireNow(key, ms, isLive(row) ? String(row.run) : undefined)
    if (lease === undefined) return undefined
    const liveCondition = isLive(row) ? `status = 'running', attempts = ?, token = ?,` : 'attempts = ?, token = ?,'
    this.#db.run(
      `update runs set ${liveCondition} updated_at = ? where tenant = ? and run = ?`,
      ...[isLive(row) ? attempts : Number(row.attempts), lease.token, this.#clock.now(), key.tenant, String(row.run)],
    )
    return lease
  }

  #orphanedRuns(agents: readonly RunningAgent[], abandonedBefore: number, limit: number): Row[] {
    return this.#db.all(
      `select r.*, s.held_until, s.boot from runs r left join sessions s on ${sessionJoin}
       where r.told = 0 and r.status in ('queued', 'running') and r.updated_at <= ? and r.run_at <= ?
       and r.agent in (select value ->> 0 from json_each(?))
       and (r.agent, r.version) not in (select value ->> 0, value ->> 1 from json_each(?))
       and (s.run is null or s.run = r.run)
       order by r.n limit ?`,
      ...[abandonedBefore, abandonedBefore, agentParams(agents), agentParams(agents), limit],
    )
  }

  /** Whether the session has been without a lease for that long. */
  #isAbandoned(row: Row, ms: number): boolean {
    if (row.held_until === null || row.boot !== this.#clock.boot) return true
    return this.#leases.remaining(row) <= -ms
  }
}

function isLive({ status }: Row): boolean {
  return status === 'queued' || status === 'running'
}

function keyFromRow({ tenant, owner, session_agent: agent, session }: Row): SessionKey {
  return { tenant: String(tenant), owner: String(owner), agent: String(agent), sessionId: String(session) }
}

function agentParams(agents: readonly RunningAgent[]): Value {
  return JSON.stringify(agents.map(({ name, version }) => [name, version]))
}
