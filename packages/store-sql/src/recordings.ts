import type { SessionKey } from '@allium/core'
import type { Page, Recording, RecordingInfo, RecordingQuery, RecordingSizes, RunKey } from '@allium/store'
import { type CheckedRecording, checkRecordingQuery } from '@allium/store/recordings'
import {
  type EncryptionContext,
  parseCursor,
  runKeyParts,
  type Sealer,
  type SqlRow,
  toBytes,
  toPage,
} from '@allium/store-sql'

/** What the databases write differently. */
export interface RecordingDialect {
  /** The name of the table. */
  readonly table: string
  /** The current time: an expression or a number. */
  readonly now: string | number
  /** Returns the parameter with this number, from 1 on. */
  param(number: number): string
}

/** The columns that {@link recordingParams} returns, in their order. */
export const recordingColumns = 'tenant, owner, agent, session, turn_id, started_at, expires_at, bytes, body'

/** Replaces the recording of the same turn. */
export const replaceRecording = `on conflict (tenant, owner, agent, session, turn_id) do update set started_at = excluded.started_at,
  expires_at = excluded.expires_at, bytes = excluded.bytes, body = excluded.body, token = excluded.token`

/** Seals a recording. */
export async function recordingParams(sealer: Sealer, recording: CheckedRecording) {
  const { startedAt, expiresAt, encoded } = recording
  const body = await sealer.sealBytes(encoded, recordingContext(recording))
  return [...runKeyParts(recording), startedAt, expiresAt, encoded.length, body] as const
}

/** Opens the recording of a row. @throws AlliumError `store.sealed`, `store.unavailable` */
export async function recordingFromRow(
  sealer: Sealer,
  run: RunKey,
  row: SqlRow | undefined,
): Promise<Recording | undefined> {
  if (row === undefined) return undefined
  const content = await sealer.openText(toBytes(row.body), recordingContext(run))
  return { ...run, startedAt: Number(row.started_at), expiresAt: Number(row.expires_at), content }
}

/** Reads a page in the order of an index, from the place of the cursor on. */
export async function recordingPage(
  query: RecordingQuery,
  { table, now, param }: RecordingDialect,
  read: (sql: string, ...values: (string | number)[]) => SqlRow[] | Promise<SqlRow[]>,
): Promise<Page<RecordingInfo>> {
  const { agent, tenant, since, until, isAscending, cursor, limit } = checkRecordingQuery(query)
  const [first, last, order] = isAscending ? (['>', '<', 'asc'] as const) : (['<', '>=', 'desc'] as const)
  // Numbers of rows begin at 1, so `> (since, 0)` includes the turns that began then, and `< (until, 0)` does not.
  const [time, n] = parseCursor(cursor, [isAscending ? since : until, 0])
  const isOfTenant = tenant === undefined ? '' : `and tenant = ${param(6)}`
  const rows = await read(
    `select tenant, owner, agent, session, turn_id, n, started_at, expires_at, bytes from ${table}
     where agent = ${param(1)} ${isOfTenant} and (started_at, n) ${first} (${param(2)}, ${param(3)}) and started_at ${last} ${param(4)}
     and expires_at > ${now} order by started_at ${order}, n ${order} limit ${param(5)}`,
    ...[agent, Math.floor(time), Math.floor(n), isAscending ? until : since, limit + 1],
    ...(tenant === undefined ? [] : [tenant]),
  )
  return toPage(rows, limit, (row) => [Number(row.started_at), Number(row.n)], infoFromRow)
}

/** The query of {@link sizesFromRows}. */
export const sizesOf = (table: string) =>
  `select tenant, count(*) as count, sum(bytes) as bytes, min(started_at) as oldest_at from ${table} group by tenant order by tenant`

export function sizesFromRows(rows: readonly SqlRow[]): RecordingSizes[] {
  return rows.map(({ tenant, count, bytes, oldest_at }) => ({
    ...{ tenant: String(tenant), count: Number(count), bytes: Number(bytes), oldestAt: Number(oldest_at) },
  }))
}

function infoFromRow(row: SqlRow): RecordingInfo {
  const { tenant, owner, agent, session } = row
  const key: SessionKey = {
    ...{ tenant: String(tenant), owner: String(owner), agent: String(agent), sessionId: String(session) },
  }
  const [startedAt, expiresAt, bytes] = [row.started_at, row.expires_at, row.bytes].map(Number) as [
    number,
    number,
    number,
  ]
  return { key, turnId: String(row.turn_id), startedAt, expiresAt, bytes }
}

/** The place of a recording. It does not name the agent, because a renamed agent keeps its recordings. */
function recordingContext({ key, turnId }: RunKey): EncryptionContext {
  return { tenant: key.tenant, row: JSON.stringify(['recording', key.owner, key.sessionId, turnId]) }
}
