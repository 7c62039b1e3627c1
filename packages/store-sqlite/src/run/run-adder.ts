import type { Lease, SessionKey } from '@allium/core'
import { type AddedRun, type AddOptions, fenced, type NewDurableRun } from '@allium/store'
import {
  type Blobs,
  type BlobWrite,
  checkKey,
  checkQueue,
  checkRunAt,
  idempotencyKeyReused,
  notPending,
  priorityStep,
  runSummary,
  type Sealer,
  sealTask,
  sessionBusy,
} from '@allium/store-sql'
import type { SqliteBlobs } from '../blob/blobs.ts'
import type { Database, Row } from '../database/database.ts'
import type { SharedClock } from '../database/machine-clock.ts'
import { keyParams, type Leases } from '../lease/leases.ts'
import type { StoreParts } from '../store-parts.ts'
import { QueueRoom } from './queue-room.ts'
import { RunTable } from './run-table.ts'
import { WaitingRuns } from './waiting-runs.ts'

/** A new run with the columns that are sealed. */
interface SealedRun {
  readonly input: NewDurableRun
  readonly task: Uint8Array
  /** The digests of its fingerprint, by each key of the encryption. */
  readonly digests: readonly string[]
}

interface AddedRow {
  readonly row: Row
  readonly isNew: boolean
  readonly lease?: Lease | undefined
}

const insertRun = `
  insert into runs (tenant, owner, session_agent, session, run, agent, version, status, run_at, idempotency_key, fingerprint,
  updated_at, task, sealed_as, queue, priority, rank) values (?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?, ?) returning *`

/** Adds durable runs, once for each idempotency key. */
export class RunAdder {
  readonly #db: Database
  readonly #clock: SharedClock
  readonly #leases: Leases
  readonly #sealer: Sealer
  readonly #blobs: Blobs
  readonly #blobTable: SqliteBlobs
  readonly #runs: RunTable
  readonly #waiting: WaitingRuns

  constructor(parts: StoreParts) {
    const { db, clock, leases, sealer, blobs, blobTable } = parts
    this.#db = db
    this.#clock = clock
    this.#leases = leases
    this.#sealer = sealer
    this.#blobs = blobs
    this.#blobTable = blobTable
    this.#runs = new RunTable(parts)
    this.#waiting = new WaitingRuns(db, clock)
  }

  /** @param checkFirst runs in the same transaction; nothing is stored if it throws */
  async add(input: NewDurableRun, options: AddOptions, checkFirst: () => void = () => {}): Promise<AddedRun> {
    const { key, run, fingerprint = '' } = input
    checkRunAt(input.runAt)
    checkQueue(input)
    const { body, cuts } = await sealTask(this.#sealer, key, run, input.task)
    // Only runs with a key are compared.
    const digests = input.idempotencyKey === undefined ? [] : await this.#sealer.digests(fingerprint, key.tenant)
    const { row, isNew, lease } = await this.#blobs.write({ key }, cuts, async (write) =>
      this.#db.write(() => {
        checkFirst()
        return this.#add({ input, task: body, digests }, options, write)
      }),
    )
    if (lease !== undefined)
      return { run: { ...runSummary(row), task: input.task, status: 'running', attempts: 1 }, isNew, lease }
    // The run may have ended or been erased since, with the blobs of its task.
    const added = await this.#runs.get(key.tenant, String(row.run))
    if (added === undefined) throw fenced(key)
    return { run: added, isNew }
  }

  #add(sealed: SealedRun, options: AddOptions, write: BlobWrite | undefined): AddedRow {
    const { input } = sealed
    const { key } = input
    const existing = this.#findExisting(sealed)
    if (existing !== undefined) {
      if (write !== undefined) this.#blobTable.deleteWrite(write)
      return { row: existing, isNew: false }
    }
    const session = this.#leases.session(key)
    const heldUntil = options.unlessBusy && this.#leases.heldUntil(session, options.unlessBusy)
    if (heldUntil) throw sessionBusy(key, heldUntil)
    this.#resolveCalls(key, input.resolvedCalls ?? [])
    const row = this.#insert(sealed)
    this.#blobTable.assignHolder(key, 'task', input.run, write)
    return { row, isNew: true, lease: this.#claimNow(row, key, { ...options, session }) }
  }

  #findExisting({ input, digests }: SealedRun): Row | undefined {
    const { key, idempotencyKey, run } = input
    if (idempotencyKey === undefined) return undefined
    const row = this.#runs.byKey(key, idempotencyKey)
    if (row !== undefined && !digests.includes(String(row.fingerprint)))
      throw idempotencyKeyReused(key, idempotencyKey, run)
    return row
  }

  /** Removes calls that have been decided from the pending ones. */
  #resolveCalls(key: SessionKey, callIds: readonly string[]): void {
    const filter = 'tenant = ? and owner = ? and agent = ? and session = ? and call_id = ?'
    const missing = callIds.filter(
      (id) => this.#db.run(`delete from pending_calls where ${filter}`, ...keyParams(key), id) === 0,
    )
    if (missing.length > 0) throw notPending(key, missing)
  }

  #insert({ input, task, digests }: SealedRun): Row {
    const { key, run, agent, version, idempotencyKey = null } = input
    const { queue, priority } = checkQueue(input)
    const now = this.#clock.now()
    const runAt = Math.floor(input.runAt ?? now)
    const rank = runAt <= now ? runAt + priority * priorityStep : null
    return this.#db.get(
      insertRun,
      ...[...keyParams(checkKey(key)), run, agent, version, runAt, idempotencyKey],
      ...[digests[0] ?? '', now, task, key.agent, queue, priority, rank],
    ) as Row
  }

  /** Claims a new run if no other run of its queue could start, and the limits allow it. */
  #claimNow(
    row: Row,
    key: SessionKey,
    { claim, worker, limits, agents, session }: AddOptions & { session: Row | undefined },
  ): Lease | undefined {
    const now = this.#clock.now()
    if (claim === undefined || Number(row.run_at) > now) return undefined
    const [agent, queue] = [String(row.agent), String(row.queue)]
    if (this.#waiting.hasStartable([agent, String(row.version), queue], Number(row.n))) return undefined
    const room = new QueueRoom(this.#db, {
      queue: { ...limits, name: queue },
      names: JSON.stringify(agents ?? [agent]),
      now,
    })
    if (room.left(key.tenant) <= 0) return undefined
    const { lease } = this.#leases.acquireNow(key, claim, String(row.run), session)
    if (lease === undefined) return undefined
    if (limits !== undefined) room.take(agent, key.tenant)
    this.#db.run(
      `update runs set status = 'running', attempts = 1, token = ?, worker = ? where n = ?`,
      ...[lease.token, worker ?? null, Number(row.n)],
    )
    return lease
  }
}
