import type { Lease } from '@allium/core'
import type { ClaimedRun, ClaimQuery, ExpiredCalls, RunningAgent, RunStore } from '@allium/store'
import { type Blobs, type ClaimedRow, type OverdueScans, openClaims, openOverdueCalls } from '@allium/store-sql'
import type { Database, Row } from '../database/database.ts'
import type { SharedClock } from '../database/machine-clock.ts'
import type { Leases } from '../lease/leases.ts'
import type { StoreParts } from '../store-parts.ts'
import { agentNames, agentParams, isLive, keyFromRow, sessionIsFree, sessionJoin } from './run-rows.ts'
import { WaitingRuns } from './waiting-runs.ts'

/** A run with this many attempts and no new step is only started alone, because it may be what crashes its process. */
const maxSharedAttempts = 3

/** Whether a step was recorded since the run was last claimed, apart from those that each takeover records. */
const hasProgressed = `exists (select 1 from steps p
  where p.tenant = r.tenant and p.run = r.run and p.token = r.token and p.id not like '%:takeover/%')`

/** Selects the runs that a process may claim. */
export class RunClaimer {
  readonly #db: Database
  readonly #clock: SharedClock
  readonly #leases: Leases
  readonly #blobs: Blobs
  readonly #waiting: WaitingRuns
  readonly #overdueScans: OverdueScans = new Map()

  constructor({ db, clock, leases, blobs }: StoreParts) {
    this.#db = db
    this.#clock = clock
    this.#leases = leases
    this.#blobs = blobs
    this.#waiting = new WaitingRuns(db, clock)
  }

  async claim(query: ClaimQuery): Promise<ClaimedRun[]> {
    return this.#open(query, (page) => this.#claimRows({ ...query, ...page }))
  }

  #claimRows(query: ClaimQuery): ClaimedRow[] {
    return this.#db.write(() => {
      const lost = query.waitingOnly === true ? [] : this.#claimLost(query)
      if (lost.some(({ row }) => mustRunAlone(row))) return lost
      return [...lost, ...this.#claimWaiting(query, query.limit - lost.length)]
    })
  }

  #claimLost(query: ClaimQuery): ClaimedRow[] {
    const claimedRows: ClaimedRow[] = []
    for (const row of this.#lostRuns(query)) {
      const attempts = row.progressed === 1 ? 1 : Number(row.attempts) + 1
      const claimed = isLive(row) ? { ...row, attempts, status: 'running' } : row
      if (mustRunAlone(claimed) && claimedRows.length > 0) continue
      const lease = this.#acquire(row, attempts, query)
      if (lease === undefined) continue
      claimedRows.push({ row: claimed, lease })
      if (mustRunAlone(claimed)) break
    }
    return claimedRows
  }

  #claimWaiting(query: ClaimQuery, limit: number): ClaimedRow[] {
    const { agents, queues = [{ name: 'default' }] } = query
    const claimedRows: ClaimedRow[] = []
    this.#waiting.claim({ agents, queues, limit }, (row) => {
      const lease = this.#acquire(row, 1, query)
      if (lease !== undefined) claimedRows.push({ row: { ...row, attempts: 1, status: 'running' }, lease })
      return lease !== undefined
    })
    return claimedRows
  }

  async orphans({ agents, ms, lease, limit }: Parameters<RunStore['orphans']>[0]): Promise<ClaimedRun[]> {
    const claimRows = (maxRows: number) =>
      this.#db.write(() =>
        this.#orphanedRuns(agents, this.#clock.now() - ms, maxRows)
          .filter((row) => this.#isAbandoned(row, ms))
          .flatMap((row): ClaimedRow[] => {
            const acquired = this.#acquire(row, Number(row.attempts), { ms: lease })
            return acquired === undefined ? [] : [{ row: { ...row, status: 'running' }, lease: acquired }]
          }),
      )
    return this.#open({ limit, ms: lease }, (page) => claimRows(page.limit))
  }

  async expired({ agents, limit }: Parameters<RunStore['expiredCalls']>[0]): Promise<ExpiredCalls[]> {
    const rowsAfter = (after: number) =>
      this.#db.all(
        `select r.*, json_group_array(w.call_id) as calls from pending_calls w
       join runs r on r.tenant = w.tenant and r.run = w.turn_id and r.owner = w.owner and r.session_agent = w.agent
       and r.session = w.session
       where w.expires_at <= ? and r.agent in (select value ->> 0 from json_each(?)) and r.n > ?
       group by r.n order by r.n limit ?`,
        ...[this.#clock.now(), agentParams(agents), after, limit],
      )
    return openOverdueCalls(this.#blobs, { agents, limit, scans: this.#overdueScans }, (after) =>
      rowsAfter(after).map((row) => ({ row, callIds: JSON.parse(String(row.calls)) as string[] })),
    )
  }

  /** Releases a claim as if it had not happened. */
  release(lease: Lease, run: string): void {
    const sql = `update runs set attempts = max(0, attempts - 1)
      where tenant = ? and run = ? and token = ? and status in ('queued', 'running')`
    this.#db.write(() => {
      if (this.#leases.release(lease)) this.#db.run(sql, lease.key.tenant, run, lease.token)
    })
  }

  #open(
    of: { limit: number; ms: number; alone?: boolean },
    claimRows: (page: { limit: number; alone: boolean }) => ClaimedRow[],
  ): Promise<ClaimedRun[]> {
    const { monotonic } = this.#clock
    return openClaims(this.#blobs, { ...of, monotonic }, claimRows, (lease, run) => this.release(lease, run))
  }

  /**
   * Returns running runs without a lease, ended runs whose end was not reported, and stopped runs, which only have to end. No limit applies to
   * them: the former have their place in the queue already, and the others execute nothing.
   */
  #lostRuns({ agents, limit, ms, alone: isIdle }: ClaimQuery): Row[] {
    const names = JSON.stringify(agentNames(agents))
    const ofAgents =
      'r.agent in (select value from json_each(?)) and (r.agent, r.version) in (select value ->> 0, value ->> 1 from json_each(?))'
    // Without statistics, SQLite prefers an index over all queued runs.
    const rows = (index: string, condition: string) =>
      `select r.*, ${hasProgressed} as progressed from runs r indexed by ${index} left join sessions s on ${sessionJoin}
       where ${ofAgents} and ${condition} and ${sessionIsFree}`
    const free = [this.#clock.boot, this.#clock.monotonic()]
    const running = `r.status = 'running' and (? or r.attempts + 1 < ${maxSharedAttempts} or ${hasProgressed})`
    const unreported = `r.reported = 0 and r.status not in ('queued', 'running') and r.updated_at <= ?`
    const stopped = `r.status = 'queued' and r.stop is not null`
    return this.#db.all(
      `select * from (${rows('runs_running', running)} union all ${rows('runs_stopped', stopped)}
       union all ${rows('runs_unreported', unreported)}) order by n limit ?`,
      ...[names, agentParams(agents), isIdle ? 1 : 0, ...free],
      ...[names, agentParams(agents), ...free],
      ...[names, agentParams(agents), this.#clock.now() - ms, ...free],
      limit,
    )
  }

  #acquire(
    row: Row,
    attempts: number,
    { ms, worker }: { ms: number; worker?: string | undefined },
  ): ClaimedRun['lease'] | undefined {
    const key = keyFromRow(row)
    const { lease } = this.#leases.acquireNow(key, ms, isLive(row) ? String(row.run) : undefined)
    if (lease === undefined) return undefined
    const liveCondition = isLive(row)
      ? `status = 'running', worker = ?, attempts = ?,`
      : 'worker = coalesce(worker, ?), attempts = ?,'
    this.#db.run(
      `update runs set ${liveCondition} token = ?, updated_at = ? where tenant = ? and run = ?`,
      ...[worker ?? null, isLive(row) ? attempts : Number(row.attempts), lease.token, this.#clock.now()],
      ...[key.tenant, String(row.run)],
    )
    return lease
  }

  #orphanedRuns(agents: readonly RunningAgent[], abandonedBefore: number, limit: number): Row[] {
    return this.#db.all(
      `select r.*, s.held_until, s.boot from runs r left join sessions s on ${sessionJoin}
       where r.reported = 0 and r.status in ('queued', 'running') and r.updated_at <= ? and r.run_at <= ?
       and (r.agent, r.version) in (select value ->> 0, value ->> 1 from json_each(?))
       and (s.run is null or s.run = r.run)
       order by r.n limit ?`,
      ...[abandonedBefore, abandonedBefore, agentParams(this.#otherVersions(agents)), limit],
    )
  }

  /** Looks the versions up in the index, so that the number of their runs does not matter. */
  #otherVersions(agents: readonly RunningAgent[]): RunningAgent[] {
    const others: RunningAgent[] = []
    const sql = 'select min(version) as version from runs where agent = ? and reported = 0 and version > ?'
    for (const name of agentNames(agents)) {
      const own = agents.filter((agent) => agent.name === name).map(({ version }) => version)
      if (!own.includes('')) others.push({ name, version: '' })
      for (let version = ''; ; ) {
        const next = this.#db.get(sql, name, version)?.version
        if (typeof next !== 'string') break
        version = next
        if (!own.includes(version)) others.push({ name, version })
      }
    }
    return others
  }

  /** Whether the session has been without a lease for that long. */
  #isAbandoned(row: Row, ms: number): boolean {
    if (row.held_until === null || row.boot !== this.#clock.boot) return true
    return this.#leases.remaining(row) <= -ms
  }
}

/** Whether the run, as it is claimed now, may be what crashes its process. */
function mustRunAlone(row: ClaimedRow['row']): boolean {
  return row.status === 'running' && Number(row.attempts) >= maxSharedAttempts
}
