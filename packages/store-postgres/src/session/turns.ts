import type { Lease, StoredTurn } from '@allium/core'
import { type FindBy, fenced, type SessionStore, turnConflict, turnIdTaken } from '@allium/store'
import {
  type Blobs,
  type BlobWrite,
  checkName,
  parseTurnRow,
  retryRead,
  type Sealer,
  type TurnRows,
  turnFromRow,
  turnToRows,
} from '@allium/store-sql'
import { translateLostBlobs } from '../blob/blobs.ts'
import type { Database, Row } from '../database/database.ts'
import { checkRows, checkSessionKey, keyParams } from '../database/keys.ts'

/** Writes and finds runs. */
export function postgresTurns(
  db: Database,
  sealer: Sealer,
  blobs: Blobs,
): Pick<SessionStore, 'checkpoint' | 'append' | 'find'> {
  const storeTurn = async (input: TurnWrite) => {
    const turnWrite = {
      ...input,
      rows: await turnToRows(input.lease.key, input.turn, sealer, { isOpen: !input.ended }),
    }
    checkRows(turnWrite.rows)
    await blobs.write(input.lease, turnWrite.rows.blobSources, (write) => commitTurn(turnWrite, write))
  }
  const commitTurn = async (turnWrite: TurnWrite & { rows: TurnRows }, write: BlobWrite | undefined) => {
    const values = toParams(turnWrite)
    const params = values.map((_, i) => `$${i + 1}`).join()
    const extraParam = (i: number) => `$${values.length + i}`
    const { turn, records } = turnWrite.rows
    const storedCondition = "$7 and k.outcome_ = 'stored'"
    // A durable run ends with its turn.
    const endRun = `case when ${storedCondition} then ${db.s}.end_run($1, $2, $3, $4, $9, $11, ${extraParam(1)}) end`
    const assignHolders = `case when k.outcome_ = 'stored' then ${db.s}.keep_blobs($1, $2, $3, $4, ${extraParam(2)}, $9, ${extraParam(3)}, ${extraParam(4)}) end`
    const holderValues = records.flatMap(({ id, digests }) => digests.map((digest) => [id, digest]))
    const ofRecords =
      holderValues.length === 0
        ? ''
        : `, case when ${storedCondition} then ${db.s}.hold_records($1, $2, $3, $4, ${extraParam(5)}, ${extraParam(6)}) end`
    const sql = `select k.*, ${endRun}, ${assignHolders}${ofRecords} from ${db.s}.keep_turn(${params}) k`
    const storeTurn = [turnWrite.ended ? 'turn' : 'open', write?.id ?? null, write?.digests ?? []]
    if (holderValues.length > 0) storeTurn.push(...[0, 1].map((i) => holderValues.map((pair) => pair[i] ?? '')))
    const [row] = await translateLostBlobs(
      turnWrite.lease.key,
      db.queryIdempotent(sql, ...values, turn.code, ...storeTurn),
    )
    checkStored(turnWrite, row)
  }
  return {
    checkpoint: (lease, version, turn) => storeTurn({ lease, version, turn, ended: false, release: false }),
    append: (lease, version, turn, { release = false } = {}) =>
      storeTurn({ lease, version, turn, ended: true, release }),
    async find(requestedKey, by, { files } = {}) {
      const key = checkSessionKey({ ...requestedKey })
      const turnsOfSession = `select * from ${db.s}.turns where tenant = $1 and owner = $2 and agent = $3 and session = $4`
      const [column, value] = lookupColumn(by)
      const condition =
        column === 'seq'
          ? 'seq >= 0 and seq = $5::integer - 1'
          : `hashtextextended(${column}, 0) = hashtextextended($5, 0) and ${column} = $5 order by seq < 0, seq limit 1`
      return retryRead(async () => {
        const [row] = await db.queryIdempotent(`${turnsOfSession} and ${condition}`, ...keyParams(key), value)
        return row === undefined ? undefined : turnFromRow(key, parseTurnRow(row), blobs, files)
      })
    },
  }
}

function lookupColumn(by: FindBy): [column: string, value: unknown] {
  if ('version' in by) return ['seq', by.version]
  if ('turnId' in by) return ['turn_id', checkName('id of the turn', by.turnId)]
  return ['idempotency_key', checkName('idempotency key', by.idempotencyKey)]
}

interface TurnWrite {
  lease: Lease
  version: number
  turn: StoredTurn
  /** Whether the run has ended; otherwise it is still open. */
  ended: boolean
  release: boolean
}

/** Returns the parameters in the order of `keep_turn`. */
function toParams({ lease, version, ended, release, rows }: TurnWrite & { rows: TurnRows }): unknown[] {
  const { turn, digests, records, pendingCalls } = rows
  return [
    ...[...keyParams(lease.key), lease.token, version, ended, release],
    ...[turn.turnId, turn.idempotencyKey, turn.status, turn.startedAt, turn.endedAt],
    ...[turn.usage, turn.from, turn.count, digests, turn.messages, turn.rest, turn.info],
    ...[records.map(({ id }) => id), records.map(({ body }) => body)],
    pendingCalls.map(({ callId }) => callId),
    pendingCalls.map(({ turnId }) => turnId),
    pendingCalls.map(({ name }) => name),
    pendingCalls.map(({ expiresAt }) => expiresAt),
    pendingCalls.map(({ token }) => token),
  ]
}

/** @throws AlliumError `store.fenced`, `store.conflict` */
function checkStored({ lease: { key }, version, turn: { turnId, from } }: TurnWrite, row: Row | undefined): void {
  const { outcome_: outcome, version_, length_ } = row ?? {}
  if (outcome === 'stored') return
  if (outcome === 'taken') throw turnIdTaken(key, turnId)
  const current = { version: Number(version_), length: Number(length_) }
  throw (outcome === 'conflict' && turnConflict(key, current, { version, from, turnId })) || fenced(key)
}
