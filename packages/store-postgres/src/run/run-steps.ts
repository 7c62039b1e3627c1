import type { Lease } from '@allium/core'
import { fenced, type RecordedStep } from '@allium/store'
import { type Blobs, checkName, retryRead, type Sealer, sealStep, stepsOf } from '@allium/store-sql'
import { translateLostBlobs } from '../blob/blobs.ts'
import type { Database } from '../database/database.ts'
import { keyParams } from '../database/keys.ts'

/** The recorded steps of durable runs. */
export class RunSteps {
  readonly #db: Database
  readonly #sealer: Sealer
  readonly #blobs: Blobs

  constructor(db: Database, { sealer, blobs }: { sealer: Sealer; blobs: Blobs }) {
    this.#db = db
    this.#sealer = sealer
    this.#blobs = blobs
  }

  list({ key }: Lease, run: string): Promise<RecordedStep[]> {
    return retryRead(async () => {
      const sql = `select id, body, sealed_as from ${this.#db.s}.steps where tenant = $1 and run = $2`
      return stepsOf(this.#blobs, key, run, await this.#db.queryIdempotent(sql, key.tenant, run))
    })
  }

  /** @throws AlliumError `store.fenced` when the run is not running under the lease */
  async record(lease: Lease, run: string, step: RecordedStep): Promise<void> {
    const { key, token } = lease
    const { s } = this.#db
    const { body, cuts } = await sealStep(this.#sealer, key, run, step)
    const values = [...keyParams(key), token, run, checkName('id of a step', step.id), body]
    await this.#blobs.write(lease, cuts, async (write) => {
      const keepBlobs = write && `, case when r.held then ${s}.keep_blobs($1, $2, $3, $4, 'step', $6, $9, $10) end`
      const sql = `select r.held${keepBlobs ?? ''} from ${s}.record_step($1, $2, $3, $4, $5, $6, $7, $8) r (held)`
      const blobs = write === undefined ? [] : [write.id, write.digests]
      const [row] = await translateLostBlobs(key, this.#db.queryIdempotent(sql, ...values, ...blobs))
      if (row?.held !== true) throw fenced(key)
    })
  }
}
