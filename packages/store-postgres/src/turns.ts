import type { FindBy, Lease, SessionStore, StoredTurn } from '@allium/core'
import {
  type Blobs,
  type BlobWrite,
  checkName,
  conflictOf,
  fenced,
  idTaken,
  readAgain,
  rowsOf,
  type Sealer,
  type TurnRows,
  turnOf,
  turnRow,
} from '@allium/store-sql'
import { fencedWithout } from './blobs.ts'
import type { Database, Row } from './database.ts'
import { at, checkedKey, checkRows } from './names.ts'
import type { Renames } from './renames.ts'

/** Runs as they are written and found. */
export function postgresTurns(
  db: Database,
  sealer: Sealer,
  blobs: Blobs,
  renames: Renames,
): Pick<SessionStore, 'checkpoint' | 'append' | 'find'> {
  const keep = async (given: Kept) => {
    const kept = { ...given, rows: await rowsOf(given.lease.key, given.turn, sealer) }
    checkRows(kept.rows)
    await blobs.write(given.lease, kept.rows.cuts, (write) => commit(kept, write))
  }
  const commit = async (kept: Kept & { rows: TurnRows }, write: BlobWrite | undefined) => {
    const values = valuesOf(kept)
    const places = values.map((_, i) => `$${i + 1}`).join()
    const after = (i: number) => `$${values.length + i}`
    const { turn, records } = kept.rows
    const isStored = "$7 and k.outcome_ = 'stored'"
    // A run that outlives its process ends with its turn.
    const ends = `case when ${isStored} then ${db.s}.end_run($1, $2, $3, $4, $9, $11, ${after(1)}) end`
    const owns = records.length === 0 ? '' : `, case when ${isStored} then ${db.s}.own_records($2, $21, $5) end`
    const holds = `case when k.outcome_ = 'stored' then ${db.s}.keep_blobs($1, $2, $3, $4, ${after(2)}, $9, ${after(3)}, ${after(4)}) end`
    const held = records.flatMap(({ id, digests }) => digests.map((digest) => [id, digest]))
    const ofRecords =
      held.length === 0
        ? ''
        : `, case when ${isStored} then ${db.s}.hold_records($1, $2, $3, $4, ${after(5)}, ${after(6)}) end`
    const sql = `select k.*, ${ends}, ${holds}${owns}${ofRecords} from ${db.s}.keep_turn(${places}) k`
    const keep = [kept.ended ? 'turn' : 'open', write?.id ?? null, write?.digests ?? []]
    if (held.length > 0) keep.push(...[0, 1].map((i) => held.map((pair) => pair[i] ?? '')))
    const [row] = await fencedWithout(kept.lease.key, db.repeatable(sql, ...values, turn.code, ...keep))
    checkKept(kept, row)
  }
  return {
    checkpoint: (lease, version, turn) => keep({ lease, version, turn, ended: false, release: false }),
    append: (lease, version, turn, { release = false } = {}) => keep({ lease, version, turn, ended: true, release }),
    async find(given, by) {
      const key = checkedKey({ ...given })
      await renames.claim(key)
      const ofSession = `select * from ${db.s}.turns where tenant = $1 and owner = $2 and agent = $3 and session = $4`
      const [column, value] = placeOf(by)
      const which =
        column === 'seq'
          ? 'seq >= 0 and seq = $5::integer - 1'
          : `hashtextextended(${column}, 0) = hashtextextended($5, 0) and ${column} = $5 order by seq < 0, seq limit 1`
      return readAgain(async () => {
        const [row] = await db.repeatable(`${ofSession} and ${which}`, ...at(key), value)
        return row === undefined ? undefined : turnOf(key, turnRow(row), blobs)
      })
    },
  }
}

function placeOf(by: FindBy): [column: string, value: unknown] {
  if ('version' in by) return ['seq', by.version]
  if ('turnId' in by) return ['turn_id', checkName('id of the turn', by.turnId)]
  return ['idempotency_key', checkName('idempotency key', by.idempotencyKey)]
}

interface Kept {
  lease: Lease
  version: number
  turn: StoredTurn
  /** Else it goes on. */
  ended: boolean
  release: boolean
}

/** In the order of `keep_turn`. */
function valuesOf({ lease, version, ended, release, rows }: Kept & { rows: TurnRows }): unknown[] {
  const { turn, digests, records, waiting } = rows
  return [
    ...[...at(lease.key), lease.token, version, ended, release],
    ...[turn.turnId, turn.idempotencyKey, turn.status, turn.startedAt, turn.endedAt],
    ...[turn.usage, turn.from, turn.count, digests, turn.messages, turn.rest, turn.info],
    ...[records.map(({ id }) => id), records.map(({ body }) => body)],
    waiting.map(({ callId }) => callId),
    waiting.map(({ turnId }) => turnId),
    waiting.map(({ name }) => name),
    waiting.map(({ expiresAt }) => expiresAt),
    waiting.map(({ token }) => token),
  ]
}

/** @throws AlliumError `store.fenced`, `store.conflict` */
function checkKept({ lease: { key }, version, turn: { turnId, from } }: Kept, row: Row | undefined): void {
  const { outcome_: outcome, version_, length_ } = row ?? {}
  if (outcome === 'stored') return
  if (outcome === 'taken') throw idTaken(key, turnId)
  const stands = { version: Number(version_), length: Number(length_) }
  throw (outcome === 'conflict' && conflictOf(key, stands, { version, from, turnId })) || fenced(key)
}
