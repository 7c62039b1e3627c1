import type { OutboxRecord, SessionKey, StoredRecord, StoredStatus, StoredTurn, Usage } from '@allium/core'
import { checkTurn, fromJson, toJson } from '@allium/core'
import type { SealedPlace } from './encrypt.ts'
import { corrupt, type Sealer } from './sealer.ts'
import { sessionPlace } from './session-place.ts'

/** A run as a row: in clear what is looked for and counted, sealed what was said. */
export interface TurnRow {
  turnId: string
  idempotencyKey: string | null
  status: StoredStatus
  /** Why it failed or was blocked, for the durable run that it is; the run itself has it in `info`. */
  code: string | null
  startedAt: number
  endedAt: number | null
  /** JSON. */
  usage: string
  from: number
  /** Messages. */
  count: number
  /** Of the whole run, as it was given. */
  digest: string
  /** The agent of the session's key when the row was sealed; empty for a row of an earlier version, which was sealed without one. */
  sealedAs: string
  messages: Uint8Array
  rest: Uint8Array
  /** All other fields. */
  info: Uint8Array
}

/** A record as a row of the outbox. */
export interface RecordRow {
  id: string
  at: number
  body: Uint8Array
}

/** A waiting call as a row. */
export interface WaitingRow {
  callId: string
  turnId: string
  name: string
  expiresAt: number | null
  /** Digest of its token. */
  token: string
}

/** All rows that one run writes. */
export interface TurnRows {
  turn: TurnRow
  /** The digests that the same run may have been stored with, that of `turn` first. */
  digests: string[]
  records: RecordRow[]
  waiting: WaitingRow[]
}

/** @throws AlliumError `state.invalid` where something of it cannot be kept */
export async function rowsOf(key: SessionKey, turn: StoredTurn, sealer: Sealer): Promise<TurnRows> {
  // Before anything is awaited: who gave it may go on changing it.
  const whole = toJson(checkTurn(turn))
  const own = fromJson(whole) as StoredTurn
  const { messages, rest, records, from, turnId, status, startedAt, endedAt, usage, idempotencyKey, ...info } = own
  const seal = (value: unknown, part: string) => sealer.seal(value, placeOf(key, { turnId, sealedAs: key.agent }, part))
  const digests = await sealer.digests(whole, key.tenant)
  return {
    turn: {
      turnId,
      idempotencyKey: idempotencyKey ?? null,
      status,
      code: own.code ?? null,
      startedAt,
      endedAt: endedAt ?? null,
      usage: JSON.stringify(usage),
      from,
      count: messages.length,
      digest: digests[0] ?? '',
      sealedAs: key.agent,
      messages: await seal(messages, 'messages'),
      rest: await seal(rest, 'rest'),
      info: await seal({ ...info, records }, 'info'),
    },
    digests,
    records: await Promise.all(records.map((record) => recordRow(key, record, sealer))),
    waiting: await waitingRows(key, rest.suspension, sealer),
  }
}

/** The run of a row. */
export async function turnOf(key: SessionKey, row: TurnRow, sealer: Sealer): Promise<StoredTurn> {
  const { turnId, status, from } = row
  const open = (bytes: Uint8Array, part: string) => sealer.open(bytes, placeOf(key, row, part))
  const info = (await open(row.info, 'info')) as Omit<StoredTurn, 'turnId' | 'messages' | 'rest'>
  const messages = (await open(row.messages, 'messages')) as StoredTurn['messages']
  const rest = (await open(row.rest, 'rest')) as StoredTurn['rest']
  const turn: StoredTurn = {
    ...info,
    turnId,
    status,
    startedAt: row.startedAt,
    usage: usageOf(key, row),
    from,
    messages,
    rest,
  }
  if (row.endedAt !== null) turn.endedAt = row.endedAt
  if (row.idempotencyKey !== null) turn.idempotencyKey = row.idempotencyKey
  return turn
}

function usageOf(key: SessionKey, row: TurnRow): Usage {
  try {
    return JSON.parse(row.usage)
  } catch (cause) {
    throw corrupt(placeOf(key, row, 'usage'), cause)
  }
}

/** The messages of a row, or the rest of the session after it. */
export function partOf(
  key: SessionKey,
  { part, bytes, ...row }: Sealed & { part: 'messages' | 'rest'; bytes: Uint8Array },
  sealer: Sealer,
): Promise<unknown> {
  return sealer.open(bytes, placeOf(key, row, part))
}

/** The name of the agent that ran a turn, as its row of an earlier version has it. */
export async function agentOf(
  key: Omit<SessionKey, 'agent'>,
  { info, ...row }: Sealed & { info: Uint8Array },
  sealer: Sealer,
): Promise<string> {
  const { agent } = (await sealer.open(info, placeOf(key, row, 'info'))) as StoredTurn
  // Earlier versions took an agent without a name.
  return typeof agent === 'string' && agent !== '' ? agent : 'agent'
}

/** The record of a row. */
export async function recordOf(
  tenant: string,
  { id, turnId, body }: { id: string; turnId: string; body: Uint8Array },
  sealer: Sealer,
): Promise<OutboxRecord> {
  const record = (await sealer.open(body, recordPlace(tenant, id))) as StoredRecord
  return { ...record, tenant, turnId }
}

async function recordRow({ tenant }: SessionKey, record: StoredRecord, sealer: Sealer): Promise<RecordRow> {
  const { id, at } = record
  return { id, at, body: await sealer.seal(record, recordPlace(tenant, id)) }
}

async function waitingRows(
  { tenant }: SessionKey,
  suspension: StoredTurn['rest']['suspension'],
  sealer: Sealer,
): Promise<WaitingRow[]> {
  const rows: WaitingRow[] = []
  for (const [callId, { name, expiresAt, token }] of Object.entries(suspension?.calls ?? {})) {
    const [digest = ''] = await sealer.digests(token, tenant)
    rows.push({ callId, turnId: suspension?.turnId ?? '', name, expiresAt: expiresAt ?? null, token: digest })
  }
  return rows
}

type Sealed = Pick<TurnRow, 'turnId' | 'sealedAs'>

function placeOf(
  { tenant, owner, sessionId }: Omit<SessionKey, 'agent'>,
  { turnId, sealedAs }: Sealed,
  part: string,
): SealedPlace {
  return { tenant, row: JSON.stringify(['turn', ...sessionPlace(owner, sealedAs, sessionId), turnId, part]) }
}

function recordPlace(tenant: string, id: string): SealedPlace {
  return { tenant, row: JSON.stringify(['record', id]) }
}
