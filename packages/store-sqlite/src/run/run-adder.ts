import type { Lease, SessionKey } from '@allium/core'
import { type AddedRun, type AddOptions, fenced, type NewDurableRun } from '@allium/store'
import {
  type Blobs,
  type BlobWrite,
  checkQueue,
  checkRunAt,
  idempotencyKeyReused,
  keptShapes,
  notPending,
  priorityStep,
  runSummary,
  type Sealer,
  sealStep,
  sealTask,
  sessionBusy,
} from '@allium/store-sql'
import type { SqliteBlobs } from '../blob/blobs.ts'
import type { Database, Row } from '../database/database.ts'
import type { SharedClock } from '../database/machine-clock.ts'
import { keyParams, type Leases, takeSession, unlessErased } from '../lease/leases.ts'
import type { StoreParts } from '../store-parts.ts'
import { QueueRoom } from './queue-room.ts'
import { RunTable } from './run-table.ts'
import { startable } from './waiting-runs.ts'

/** A new run with the columns that are sealed. */
interface SealedRun {
  readonly input: NewDurableRun
  readonly task: Uint8Array
  readonly firstStep: Uint8Array | undefined
  /** The digests of its fingerprint, by each key of the encryption. */
  readonly digests: readonly string[]
}

interface AddedRow {
  readonly row: Row
  readonly isNew: boolean
  readonly lease?: Lease | undefined
}

const insertRun = `
  insert into runs (tenant, owner, session_agent, session, run, agent, version, run_at, idempotency_key, fingerprint,
  updated_at, task, shape, sealed_as, queue, priority, rank, status, attempts, token, worker)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  returning *, exists (select 1 from run_shapes where digest = runs.shape) as has_shape`

/** Claims a run if no other one could start. The second statement is for a session of which an erasure has left nothing. */
const isNext = `not exists (${startable})`
const [takeFirst, takeLater] = [takeSession(isNext, unlessErased), takeSession(isNext)]

/** Adds durable runs, once for each idempotency key. */
export class RunAdder {
  readonly #db: Database
  readonly #clock: SharedClock
  readonly #leases: Leases
  readonly #sealer: Sealer
  readonly #blobs: Blobs
  readonly #blobTable: SqliteBlobs
  readonly #runs: RunTable

  constructor(parts: StoreParts) {
    const { db, clock, leases, sealer, blobs, blobTable } = parts
    this.#db = db
    this.#clock = clock
    this.#leases = leases
    this.#sealer = sealer
    this.#blobs = blobs
    this.#blobTable = blobTable
    this.#runs = new RunTable(parts)
  }

  /** @param checkFirst runs in the same transaction; nothing is stored if it throws */
  async add(input: NewDurableRun, options: AddOptions, checkFirst: () => void = () => {}): Promise<AddedRun> {
    const { key, run, fingerprint = '' } = input
    checkRunAt(input.runAt)
    checkQueue(input)
    const { body, cuts } = await sealTask(this.#sealer, key, run, input.task)
    const firstStep = input.firstStep && (await sealStep(this.#sealer, key, run, input.firstStep)).body
    // Only runs with a key are compared.
    const digests = input.idempotencyKey === undefined ? [] : await this.#sealer.digests(fingerprint, key.tenant)
    const { row, isNew, lease } = await this.#blobs.write({ key }, cuts, async (write) =>
      this.#db.write(() => {
        checkFirst()
        return this.#add({ input, task: body, firstStep, digests }, options, write)
      }),
    )
    if (lease !== undefined) return { run: { ...runSummary(row), task: input.task }, isNew, lease }
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
    const room = this.#roomFor(input, options)
    let lease = room && this.#take(takeFirst, input, options)
    const session = lease === undefined ? this.#leases.session(key) : undefined
    const heldUntil = options.unlessBusy && this.#leases.heldUntil(session, options.unlessBusy)
    if (heldUntil) throw sessionBusy(key, heldUntil)
    this.#resolveCalls(key, input.resolvedCalls ?? [])
    // Before the claim, which deletes what an erased session has left.
    this.#blobTable.assignHolder(key, 'task', input.run, write)
    if (room !== undefined && lease === undefined) {
      this.#leases.current(key, session)
      lease = this.#take(takeLater, input, options)
    }
    if (lease !== undefined && options.limits !== undefined) room?.take(input.agent, key.tenant)
    return { row: this.#insert(sealed, lease, options.worker), isNew: true, lease }
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

  #insert({ input, task, firstStep, digests }: SealedRun, lease: Lease | undefined, worker: string | undefined): Row {
    const { key, run, agent, version, idempotencyKey = null, shape } = input
    const { queue, priority } = checkQueue(input)
    const now = this.#clock.now()
    const runAt = runAtOf(input, now)
    const rank = runAt <= now ? runAt + priority * priorityStep : null
    const claim = lease === undefined ? ['queued', 0, 0, null] : ['running', 1, lease.token, worker ?? null]
    const row = this.#db.get(
      insertRun,
      ...[...keyParams(key), run, agent, version, runAt, idempotencyKey],
      ...[digests[0] ?? '', now, task, shape?.digest ?? null, key.agent, queue, priority, rank, ...claim],
    ) as Row
    if (shape?.body !== undefined && row.has_shape === 0) {
      this.#db.run('insert into run_shapes (digest, body) values (?, ?)', shape.digest, shape.body)
      this.#db.run(`delete from run_shapes where n <= (select max(n) from run_shapes) - ${keptShapes}`)
    }
    if (lease !== undefined && input.firstStep !== undefined && firstStep !== undefined)
      this.#db.run(
        'insert into steps values (?, ?, ?, ?, ?, ?, ?)',
        ...[key.tenant, run, input.firstStep.id, lease.token, firstStep, key.agent, now],
      )
    return row
  }

  /** Returns the room of its queue if a new run is claimed at once. */
  #roomFor(input: NewDurableRun, { claim, limits, agents = [input.agent] }: AddOptions): QueueRoom | undefined {
    const now = this.#clock.now()
    if (claim === undefined || runAtOf(input, now) > now) return undefined
    const queue = { ...limits, name: checkQueue(input).queue }
    const room = new QueueRoom(this.#db, { queue, names: JSON.stringify(agents), now })
    return room.left(input.key.tenant) > 0 ? room : undefined
  }

  /** Claims a new run if no other run of its queue could start. */
  #take(sql: string, input: NewDurableRun, { claim = 0 }: AddOptions): Lease | undefined {
    const { key, run, agent, version } = input
    return this.#leases.take(sql, key, claim, run, agent, version, checkQueue(input).queue)
  }
}

function runAtOf({ runAt }: NewDurableRun, now: number): number {
  return Math.floor(runAt ?? now)
}
