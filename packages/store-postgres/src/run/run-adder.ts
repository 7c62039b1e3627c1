import { type AddedRun, type AddOptions, fenced, type NewDurableRun } from '@allium/store'
import {
  type Blobs,
  type BlobWrite,
  checkName,
  checkQueue,
  checkRunAt,
  idempotencyKeyReused,
  notPending,
  readRun,
  runSummary,
  type Sealer,
  sealStep,
  sealTask,
  sessionBusy,
} from '@allium/store-sql'
import { translateLostBlobs } from '../blob/blobs.ts'
import { checkCombinedLength } from '../database/combined-length.ts'
import { type Database, paramList, type Row } from '../database/database.ts'
import { keyParams } from '../database/keys.ts'
import { issueLease } from '../lease/leases.ts'

/** A call in the statement that adds a run. Nothing is stored if it fails. */
interface FirstCall {
  readonly sql: string
  readonly values: readonly unknown[]
}

/** Adds durable runs, once for each idempotency key. */
export class RunAdder {
  readonly #db: Database
  readonly #sealer: Sealer
  readonly #blobs: Blobs

  constructor(db: Database, { sealer, blobs }: { sealer: Sealer; blobs: Blobs }) {
    this.#db = db
    this.#sealer = sealer
    this.#blobs = blobs
  }

  /** @param firstCall returns a call that runs first in the same statement. It gets the number of its first parameter */
  async add(
    input: NewDurableRun,
    options: AddOptions,
    firstCall?: (firstParam: number) => FirstCall,
  ): Promise<AddedRun> {
    checkRunAt(input.runAt)
    const settings = settingColumns(input, options)
    checkNames(input)
    const { key, run } = input
    const { body, cuts } = await sealTask(this.#sealer, key, run, input.task)
    const values = [...keyParams(key), run, ...(await this.#runColumns(input)), body, ...settings]
    values.push(...(await this.#startColumns(input)))
    const first = firstCall?.(26)
    const row = await this.#blobs.write({ key }, cuts, (write) => this.#insert(input, values, write, first))
    throwIfRefused(input, row)
    const added = await this.#added(input, row)
    const result = { run: added, isNew: row.outcome_ === 'added' }
    return isClaimed(row) ? { ...result, lease: issueLease(this.#db, key, row) } : result
  }

  async #runColumns(input: NewDurableRun): Promise<unknown[]> {
    const { key, agent, version, runAt = null, idempotencyKey = null, fingerprint = '', resolvedCalls = [] } = input
    // Only runs with a key are compared.
    const digests = idempotencyKey === null ? [''] : await this.#sealer.digests(fingerprint, key.tenant)
    return [agent, version, runAt, idempotencyKey, digests, resolvedCalls]
  }

  /** Returns the shape of the code, and the first step. */
  async #startColumns({ key, run, shape, firstStep }: NewDurableRun): Promise<unknown[]> {
    const step = firstStep && (await sealStep(this.#sealer, key, run, firstStep))
    return [shape?.digest ?? null, shape?.body ?? null, firstStep?.id ?? null, step?.body ?? null]
  }

  /** After the parameters of `add_run` come the blobs of the task, and the parameters of the first call. */
  async #insert(
    { key }: NewDurableRun,
    values: readonly unknown[],
    write: BlobWrite | undefined,
    first: FirstCall | undefined,
  ): Promise<Row> {
    const { s } = this.#db
    const sql = `select a.*, case when a.outcome_ = 'added' then ${s}.keep_blobs($1, $2, $3, $4, 'task', $5, $24, $25) end
      from ${first ? `(select ${first.sql}) first, lateral ` : ''}${s}.add_run(${paramList(23)}) a`
    const blobs = [write?.id ?? null, write?.digests ?? []]
    const inserted = this.#db.queryIdempotent(sql, ...values, ...blobs, ...(first?.values ?? []))
    const [row] = await translateLostBlobs(key, inserted)
    return row as Row
  }

  /** A run that was claimed needs no other copy of its task. Another one may have ended or been erased since, with the blobs of its task. */
  async #added({ key, task }: NewDurableRun, row: Row): Promise<AddedRun['run']> {
    const sql = `select * from ${this.#db.s}.runs where n = $1`
    const find = async () => (await this.#db.queryIdempotent(sql, row.n_))[0]
    const stored = isClaimed(row) ? await find() : undefined
    const added = isClaimed(row) ? stored && { ...runSummary(stored), task } : await readRun(this.#blobs, find)
    if (added === undefined) throw fenced(key)
    return added
  }
}

function settingColumns(input: NewDurableRun, options: AddOptions): unknown[] {
  const { claim = null, unlessBusy = null, limits = {}, agents = [input.agent], worker = null } = options
  const { queue, priority } = checkQueue(input)
  return [claim, unlessBusy, queue, priority, JSON.stringify(limits), agents, worker]
}

/** @throws AlliumError `store.key` */
function checkNames({ key, run, agent, version, idempotencyKey = '' }: NewDurableRun): void {
  checkCombinedLength('tenant and id of the run', [key.tenant, checkName('id of the run', run)])
  for (const [what, name] of Object.entries({ agent, version, 'idempotency key': idempotencyKey }))
    checkName(what, name)
}

/** @throws AlliumError `run.key_reused`, `session.busy`, `approval.used` */
function throwIfRefused({ key, run, idempotencyKey = '' }: NewDurableRun, row: Row): void {
  const { outcome_: outcome } = row
  if (outcome === 'reused') throw idempotencyKeyReused(key, idempotencyKey, run)
  if (outcome === 'busy') throw sessionBusy(key, Math.ceil(Number(row.held_until_)))
  if (outcome === 'absent') throw notPending(key, row.absent_ as string[])
}

function isClaimed({ token_: token }: Row): boolean {
  return typeof token === 'string' || typeof token === 'number'
}
