import type { ClaimQueue, RunningAgent } from '@allium/store'
import { priorityStep } from '@allium/store-sql'
import type { Database, Row, Value } from '../database/database.ts'
import type { SharedClock } from '../database/machine-clock.ts'
import { QueueRoom } from './queue-room.ts'
import { agentNames, sessionIsFree, sessionJoin } from './run-rows.ts'

/** Most runs that become due in one transaction. */
const maxDue = 1000
/** Tenants compared in addition to the number of runs to claim. */
const extraTenants = 50

const laneMatches = "r.agent = ? and r.version = ? and r.queue = ? and r.status = 'queued' and r.rank is not null"

/** Selects a run that waits in the lane of the parameters ?9 to ?11 and could start; ?6 is the boot and ?8 the time. */
export const startable = `
  select 1 from runs r left join sessions s on ${sessionJoin}
  where r.agent = ?9 and r.version = ?10 and r.queue = ?11 and r.status = 'queued' and r.rank is not null
  and (s.run is null or s.run = r.run) and (s.held_until is null or s.boot <> ?6 or s.held_until <= ?8)`

/** The waiting runs of one agent version in one queue. */
type Lane = readonly [agent: string, version: string, queue: string]

/** The next run of a tenant in a lane, and when its turn is. */
interface Candidate {
  readonly lane: Lane
  readonly room: QueueRoom
  readonly row: Row
  readonly turn: number
}

/** Orders the waiting runs of a file. Every method runs inside a transaction. */
export class WaitingRuns {
  readonly #db: Database
  readonly #clock: SharedClock

  constructor(db: Database, clock: SharedClock) {
    this.#db = db
    this.#clock = clock
  }

  /** Calls `acquire` for waiting runs in their order, until it has returned true `limit` times. */
  claim(
    { agents, queues, limit }: { agents: readonly RunningAgent[]; queues: readonly ClaimQueue[]; limit: number },
    acquire: (row: Row) => boolean,
  ): void {
    this.#rankDue(agents)
    const candidates = queues.flatMap((queue) => this.#candidates(queue, agents, limit))
    for (let left = limit; left > 0; ) {
      const next = candidates.reduce<Candidate | undefined>(earlier, undefined)
      if (next === undefined) return
      const { lane, room, row } = next
      const tenant = String(row.tenant)
      const isClaimed = room.left(tenant) > 0 && acquire(row)
      if (isClaimed) {
        left--
        room.take(lane[0], tenant)
      }
      const following = room.left(tenant) > 0 ? this.#first(lane, room, tenant, row) : undefined
      candidates.splice(candidates.indexOf(next), 1, ...(following === undefined ? [] : [following]))
    }
  }

  #rankDue(agents: readonly RunningAgent[]): void {
    const due = `select n from runs where agent = ? and status = 'queued' and rank is null and run_at <= ? order by run_at limit ${maxDue}`
    for (const name of agentNames(agents))
      this.#db.run(
        `update runs set rank = run_at + priority * ${priorityStep} where n in (${due})`,
        name,
        this.#clock.now(),
      )
  }

  #candidates(queue: ClaimQueue, agents: readonly RunningAgent[], limit: number): Candidate[] {
    const names = JSON.stringify(agentNames(agents))
    const room = new QueueRoom(this.#db, { queue, names, now: this.#clock.now() })
    return agents.flatMap(({ name, version }) => this.#candidatesOf([name, version, queue.name], room, limit))
  }

  /** Returns the first runs of a bounded number of tenants, from the tenant after the last one that had its turn. */
  #candidatesOf(lane: Lane, room: QueueRoom, limit: number): Candidate[] {
    const candidates: Candidate[] = []
    if (room.isFull) return candidates
    const [agent, , queue] = lane
    const last = this.#db.get(
      'select tenant from queue_turns where agent = ? and queue = ? order by at desc limit 1',
      ...[agent, queue],
    )
    for (const tenant of this.#tenants(lane, last === undefined ? null : String(last.tenant))) {
      const first = room.left(tenant) > 0 ? this.#first(lane, room, tenant) : undefined
      if (first !== undefined) candidates.push(first)
      if (candidates.length >= limit + extraTenants) break
    }
    return candidates
  }

  /** Yields the tenants with waiting runs in a circle, and `last` at its end. */
  *#tenants(lane: Lane, last: string | null): Generator<string> {
    const circle =
      last === null
        ? ([['>=', null]] as const)
        : ([
            ['>', null],
            ['>=', last],
          ] as const)
    for (const [from, to] of circle)
      for (let tenant = this.#tenant(lane, from, from === '>' ? String(last) : '', to); tenant !== undefined; ) {
        yield tenant
        tenant = this.#tenant(lane, '>', tenant, to)
      }
  }

  /** Looks the tenant up in the index, so that the number of its runs does not matter. */
  #tenant(lane: Lane, compare: '>' | '>=', from: string, to: string | null): string | undefined {
    const sql = `select r.tenant from runs r where ${laneMatches} and r.tenant ${compare} ? and (? is null or r.tenant <= ?)
      order by r.tenant limit 1`
    const row = this.#db.get(sql, ...lane, from, to, to)
    return row === undefined ? undefined : String(row.tenant)
  }

  /** Returns the tenant's first run, or the first one after another. */
  #first(lane: Lane, room: QueueRoom, tenant: string, after?: Row): Candidate | undefined {
    const row = this.#db.get(
      `select r.* from runs r left join sessions s on ${sessionJoin}
       where ${laneMatches} and r.tenant = ? ${after === undefined ? '' : 'and (r.rank, r.n) > (?, ?)'} and ${sessionIsFree}
       order by r.rank, r.n limit 1`,
      ...[
        ...lane,
        tenant,
        ...(after === undefined ? [] : [Number(after.rank), Number(after.n)]),
        ...this.#sessionParams(),
      ],
    )
    if (row === undefined) return undefined
    const lastTurn = this.#db.get(
      'select at from queue_turns where agent = ? and queue = ? and tenant = ?',
      ...[lane[0], lane[2], tenant],
    )
    // A time far in the future is from before the clock was set back.
    const since = Math.min(Number(lastTurn?.at ?? Number.NEGATIVE_INFINITY), this.#clock.now() + 1000)
    return { lane, room, row, turn: Math.max(since + Number(row.priority) * priorityStep, Number(row.rank)) }
  }

  #sessionParams(): Value[] {
    return [this.#clock.boot, this.#clock.monotonic()]
  }
}

function earlier(first: Candidate | undefined, second: Candidate): Candidate {
  if (first === undefined || second.turn < first.turn) return second
  return first
}
