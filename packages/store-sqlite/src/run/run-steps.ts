import type { Lease } from '@allium/core'
import type { RecordedStep } from '@allium/store'
import { type Blobs, retryRead, type Sealer, sealStep, stepsOf } from '@allium/store-sql'
import type { SqliteBlobs } from '../blob/blobs.ts'
import type { Database } from '../database/database.ts'
import type { SharedClock } from '../database/machine-clock.ts'
import { keyParams, leaseMatches } from '../lease/leases.ts'
import type { StoreParts } from '../store-parts.ts'
import type { RunTable } from './run-table.ts'

/** Stores a step if its run holds its session. */
const insertStep = `insert or ignore into steps select ?, ?, ?, ?, ?, ?, ? from sessions
  where ${leaseMatches} and token = ? and run = ? and boot = ? and held_until > ?`

/** The recorded steps of durable runs. */
export class RunSteps {
  readonly #db: Database
  readonly #clock: SharedClock
  readonly #sealer: Sealer
  readonly #blobs: Blobs
  readonly #blobTable: SqliteBlobs
  readonly #runs: RunTable

  constructor({ db, clock, sealer, blobs, blobTable }: StoreParts, runs: RunTable) {
    this.#db = db
    this.#clock = clock
    this.#sealer = sealer
    this.#blobs = blobs
    this.#blobTable = blobTable
    this.#runs = runs
  }

  list({ key }: Lease, run: string): Promise<RecordedStep[]> {
    return retryRead(async () => {
      const sql = 'select id, body, sealed_as from steps where tenant = ? and run = ?'
      return stepsOf(this.#blobs, key, run, this.#db.all(sql, key.tenant, run))
    })
  }

  /** @throws AlliumError `store.fenced` when the run is not running under the lease */
  async record(lease: Lease, run: string, step: RecordedStep): Promise<void> {
    const { body, cuts } = await sealStep(this.#sealer, lease.key, run, step)
    await this.#blobs.write(lease, cuts, (write) =>
      this.#db.writeInGroup(() => {
        this.#insert(lease, run, step.id, body)
        this.#blobTable.assignHolder(lease.key, 'step', run, write)
      }),
    )
  }

  /** A step that was recorded before is not recorded again. */
  #insert(lease: Lease, run: string, id: string, body: Uint8Array): void {
    const { key, token } = lease
    const { tenant, agent } = key
    const values = [tenant, run, id, token, body, agent, this.#clock.now()]
    const isHeld = [...keyParams(key), token, run, this.#clock.boot, this.#clock.monotonic()]
    if (this.#db.run(insertStep, ...values, ...isHeld) === 0) this.#runs.checkHeld(lease, run)
  }
}
