import type { Lease, SessionKey, StoredTurn } from '@allium/core'
import {
  type Checkpoint,
  checkpointMissing,
  type FindBy,
  fenced,
  type PassageTurn,
  type ReadFiles,
  turnConflict,
  turnIdTaken,
} from '@allium/store'
import {
  type Blobs,
  type BlobWrite,
  checkName,
  checkpointToRows,
  parseTurnRow,
  retryRead,
  type Sealer,
  type TurnRows,
  turnFromRow,
  turnToRows,
} from '@allium/store-sql'
import { translateLostBlobs } from '../blob/blobs.ts'
import { columnsOf, type Database, paramList, type Row } from '../database/database.ts'
import { checkRows, keyParams } from '../database/keys.ts'

/** Writes and finds runs. */
export class Turns {
  readonly #db: Database
  readonly #sealer: Sealer
  readonly #blobs: Blobs

  constructor(db: Database, { sealer, blobs }: { sealer: Sealer; blobs: Blobs }) {
    this.#db = db
    this.#sealer = sealer
    this.#blobs = blobs
  }

  /** Stores a run in progress, or one that has ended. */
  async store(input: TurnInput): Promise<void> {
    const { lease, turn, ended } = input
    const toRows = ended ? turnToRows : checkpointToRows
    const [rows, passages] = await Promise.all([
      toRows(lease.key, turn, this.#sealer),
      turn.passages && import('@allium/store-postgres/late').then((late) => late.passageRows(turn, input.version)),
    ])
    checkRows(rows)
    await this.#blobs.write(lease, rows.blobSources, (write) => this.#commit({ ...input, rows, write, passages }))
  }

  async find(key: SessionKey, by: FindBy, files?: ReadFiles): Promise<StoredTurn | undefined> {
    const turnsOfSession = `select *, ${partsOfTurn(this.#db.s)} from ${this.#db.s}.turns t where tenant = $1 and owner = $2 and agent = $3 and session = $4`
    const [column, value] = lookupColumn(by)
    const condition =
      column === 'seq'
        ? 'seq >= 0 and seq = $5::integer - 1'
        : `hashtextextended(${column}, 0) = hashtextextended($5, 0) and ${column} = $5 order by seq < 0, seq limit 1`
    return retryRead(async () => {
      const [row] = await this.#db.queryIdempotent(`${turnsOfSession} and ${condition}`, ...keyParams(key), value)
      return row === undefined ? undefined : turnFromRow(key, parseTurnRow(row), this.#blobs, files)
    })
  }

  async #commit(turnWrite: TurnWrite): Promise<void> {
    const { lease, ended, rows, write } = turnWrite
    const values = toParams(turnWrite)
    const holders = rows.records.flatMap(({ id, digests }) => digests.map((digest) => [id, digest] as const))
    const sql = this.#commitSql(holders.length > 0)
    const open = rows.turn.after > 0 ? 'part' : 'open'
    const blobs = [ended ? 'turn' : open, write?.id ?? null, write?.digests ?? []]
    const ofRecords = holders.length > 0 ? columnsOf(2, holders) : []
    const stored = this.#db.queryIdempotent(sql, ...values, rows.turn.code, ...blobs, ...ofRecords)
    const [row] = await translateLostBlobs(lease.key, stored)
    checkStored(turnWrite, row)
  }

  /** After the parameters of `keep_turn` come the code of the run, its blobs, and the records that hold blobs. */
  #commitSql(hasHolders: boolean): string {
    const { s } = this.#db
    const isEnded = "$7 and k.outcome_ = 'stored'"
    // A durable run ends with its turn.
    const endRun = `case when ${isEnded} then ${s}.end_run($1, $2, $3, $4, $9, $11, $30) end`
    const keepBlobs = `case when k.outcome_ = 'stored' then ${s}.keep_blobs($1, $2, $3, $4, $31, $9, $32, $33) end`
    const holdRecords = `, case when ${isEnded} then ${s}.hold_records($1, $2, $3, $4, $34, $35) end`
    return `select k.*, ${endRun}, ${keepBlobs}${hasHolders ? holdRecords : ''} from ${s}.keep_turn(${paramList(29)}) k`
  }
}

/** The parts of an open run, in order. */
export function partsOfTurn(s: string): string {
  return `case when t.seq = -1 then (select array_agg(p.body order by p.n) from ${s}.turn_parts p
    where p.tenant = t.tenant and p.owner = t.owner and p.agent = t.agent and p.session = t.session) end as parts`
}

function lookupColumn(by: FindBy): [column: string, value: unknown] {
  if ('version' in by) return ['seq', by.version]
  if ('turnId' in by) return ['turn_id', checkName('id of the turn', by.turnId)]
  return ['idempotency_key', checkName('idempotency key', by.idempotencyKey)]
}

interface TurnInput {
  readonly lease: Lease
  readonly version: number
  readonly turn: Checkpoint & PassageTurn
  /** Whether the run has ended; otherwise it is still open. */
  readonly ended: boolean
  readonly release: boolean
}

interface TurnWrite extends TurnInput {
  readonly rows: TurnRows
  readonly write: BlobWrite | undefined
  /** JSON. */
  readonly passages: string | undefined
}

/** Returns the parameters in the order of `keep_turn`. */
function toParams({ lease, version, ended, release, rows, passages }: TurnWrite): unknown[] {
  const { turn, digests, records, pendingCalls } = rows
  return [
    ...[...keyParams(lease.key), lease.token, version, ended, release],
    ...[turn.turnId, turn.idempotencyKey, turn.status, turn.startedAt, turn.endedAt],
    ...[turn.usage, turn.from, turn.count, digests, turn.messages, turn.rest, turn.info],
    ...columnsOf(
      2,
      records.map(({ id, body }) => [id, body]),
    ),
    ...columnsOf(
      5,
      pendingCalls.map(({ callId, turnId, name, expiresAt, token }) => [callId, turnId, name, expiresAt, token]),
    ),
    turn.after,
    passages ?? null,
  ]
}

/** @throws AlliumError `store.fenced`, `store.conflict` */
function checkStored({ lease: { key }, version, turn: { turnId, from } }: TurnWrite, row: Row | undefined): void {
  const { outcome_: outcome, version_, length_ } = row ?? {}
  if (outcome === 'stored') return
  if (outcome === 'taken') throw turnIdTaken(key, turnId)
  if (outcome === 'missing') throw checkpointMissing(key, turnId)
  const current = { version: Number(version_), length: Number(length_) }
  throw (outcome === 'conflict' && turnConflict(key, current, { version, from, turnId })) || fenced(key)
}
