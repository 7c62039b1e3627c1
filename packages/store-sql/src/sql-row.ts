import type { Message, SessionKey } from '@allium/core'
import type { HistoryTurn, SessionHead, SessionSummary, StoredPendingCall, StoredStatus } from '@allium/store'
import { type Blobs, type FilesOf, filesOfMessages } from './blobs/blobs.ts'
import { openPartOf, type RowPart, type TurnRow, turnFromRow } from './turn-row.ts'

/** A row from a driver, by column name; large numbers may be strings. */
export type SqlRow = Readonly<Record<string, unknown>>

/** Parses a run's row. */
export function parseTurnRow(row: SqlRow): TurnRow {
  return {
    turnId: String(row.turn_id),
    idempotencyKey: row.idempotency_key as string | null,
    status: row.status as TurnRow['status'],
    code: null,
    startedAt: Number(row.started_at),
    endedAt: row.ended_at === null ? null : Number(row.ended_at),
    usage: String(row.usage),
    from: Number(row.start),
    count: Number(row.count),
    digest: String(row.digest),
    sealedAs: String(row.sealed_as),
    messages: toBytes(row.messages),
    rest: toBytes(row.rest),
    info: toBytes(row.info),
    after: 0,
    parts: ((row.parts as unknown[] | null | undefined) ?? []).map(toBytes),
  }
}

/** Drivers return a Buffer, sometimes as a view on a larger one, or an ArrayBuffer. Only a part of a larger one is copied. */
export function toBytes(value: unknown): Uint8Array {
  const isWhole = value instanceof Uint8Array && value.byteLength === value.buffer.byteLength
  return new Uint8Array(isWhole ? value.buffer : (value as ArrayBuffer))
}

/** Returns the history from the messages of runs; each run replaces the messages from its start on. */
export async function historyFromRows(key: SessionKey, rows: readonly SqlRow[], blobs: Blobs): Promise<Message[]> {
  const history: Message[] = []
  for (const row of rows) {
    history.length = Number(row.start)
    const messages = openPart(key, row, 'messages', blobs)
    // Most rows open at once. Waiting for them would take a microtask each.
    history.push(...((messages instanceof Promise ? await messages : messages) as Message[]))
  }
  return history
}

/** Opens a part of a row: the messages, the rest of the session after it, or the other fields. */
export function openPart(key: SessionKey, row: SqlRow, part: RowPart, blobs: Blobs, filesOf?: FilesOf): unknown {
  const place = { turnId: String(row.turn_id), sealedAs: String(row.sealed_as) }
  return openPartOf(key, place, { part, bytes: toBytes(row[part]), blobs, filesOf })
}

/** Returns the session without its messages, from the row of the turn after which it is read, if there is one. */
export async function headFromRow(key: SessionKey, row: SqlRow, blobs: Blobs): Promise<SessionHead | undefined> {
  if (row.seq !== null)
    return { version: Number(row.seq) + 1, rest: (await openPart(key, row, 'rest', blobs)) as SessionHead['rest'] }
  return row.open_turn === null ? undefined : { version: 0, rest: { state: {} } }
}

/** A page of the history has no further run after this many bytes of messages. */
export const pageBytes = 1_048_576

/** Opens the rows of a page of the history. */
export async function turnsFromRows(key: SessionKey, rows: readonly SqlRow[], blobs: Blobs): Promise<HistoryTurn[]> {
  const turns: HistoryTurn[] = []
  for (const row of rows) {
    if (row.info === null) {
      const messages = (await openPart(key, row, 'messages', blobs, filesOfMessages)) as Message[]
      turns.push({ turnId: String(row.turn_id), from: Number(row.start), messages, version: Number(row.seq) + 1 })
    } else {
      const { turnId, from, messages, resumes } = await turnFromRow(key, parseTurnRow(row), blobs, 'onDemand')
      turns.push({ turnId, from, messages, ...(resumes !== undefined && { resumes }) })
    }
  }
  return turns
}

/** Parses a row of a session list. */
export function sessionSummaryFromRow(tenant: string, row: SqlRow): SessionSummary {
  return {
    key: { tenant, owner: String(row.owner), agent: String(row.agent), sessionId: String(row.id) },
    version: Number(row.version),
    status: row.status as StoredStatus,
    updatedAt: Math.floor(Number(row.updated_at)),
  }
}

/** Returns the key of the session that a row belongs to. */
export function sessionKeyFromRow({ tenant, owner, agent, session }: SqlRow): SessionKey {
  return { tenant: String(tenant), owner: String(owner), agent: String(agent), sessionId: String(session) }
}

/** Parses a row of a list of pending calls. */
export function pendingCallFromRow(row: SqlRow): StoredPendingCall {
  const call: StoredPendingCall = {
    key: sessionKeyFromRow(row),
    turnId: String(row.turn_id),
    callId: String(row.call_id),
    name: String(row.name),
  }
  return row.expires_at === null ? call : { ...call, expiresAt: Number(row.expires_at) }
}
