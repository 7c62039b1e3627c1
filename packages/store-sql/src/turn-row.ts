import type { OutboxRecord, SessionKey, StoredRecord, StoredStatus, StoredTurn, Usage } from '@allium/core'
import { checkTurn } from '@allium/core'
import type { BlobOwner } from './blobs/blob-table.ts'
import type { Blobs } from './blobs/blobs.ts'
import { type Cuts, type CutText, Cutter, namedCuts, rowText } from './blobs/cut.ts'
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
  /** The blobs that the record refers to, which are among those of the turn. */
  digests: readonly string[]
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
  /** The blobs that the row refers to. */
  cuts: Cuts
}

/** @throws AlliumError `state.invalid` where something of it cannot be kept */
export async function rowsOf(key: SessionKey, turn: StoredTurn, sealer: Sealer): Promise<TurnRows> {
  // Before anything is awaited: who gave it may go on changing it.
  const cutter = new Cutter(sealer.cuts)
  const whole = cutter.text(checkTurn(turn))
  const { messages, rest, records, from, turnId, status, startedAt, endedAt, usage, idempotencyKey, ...info } = turn
  const texts = [messages, rest, { ...info, records }].map((part) => cutter.text(part)) as [CutText, CutText, CutText]
  const own = {
    turnId,
    idempotencyKey: idempotencyKey ?? null,
    status,
    code: turn.code ?? null,
    startedAt,
    endedAt: endedAt ?? null,
    usage: JSON.stringify(usage),
    from,
    count: messages.length,
    sealedAs: key.agent,
  }
  const bodies = records.map((record) => ({ id: record.id, at: record.at, text: cutter.text(record) }))
  const calls = Object.entries(rest.suspension?.calls ?? {}).map(([callId, call]) => ({ ...call, callId }))
  const waitsFor = rest.suspension?.turnId ?? ''

  const { cuts, digestOf } = await namedCuts(cutter, (sha256) => sealer.nameOf(sha256, key))
  const contents = whole.cuts.map((cut) => JSON.stringify(cut.reference(cut.sha256)))
  const digests = await sealer.digests([whole.text, ...contents].join('\n'), key.tenant)
  const sealed = (text: CutText, part: string) => sealer.sealText(rowText(text, digestOf), placeOf(key, own, part))
  return {
    turn: {
      ...own,
      digest: digests[0] ?? '',
      messages: await sealed(texts[0], 'messages'),
      rest: await sealed(texts[1], 'rest'),
      info: await sealed(texts[2], 'info'),
    },
    digests,
    records: await Promise.all(
      bodies.map(async ({ id, at, text }) => {
        const body = await sealer.sealText(rowText(text, digestOf), recordPlace(key.tenant, id))
        return { id, at, body, digests: [...new Set(text.cuts.map(digestOf))] }
      }),
    ),
    waiting: await Promise.all(
      calls.map(async ({ callId, name, expiresAt, token }) => {
        const [digest = ''] = await sealer.digests(token, key.tenant)
        return { callId, turnId: waitsFor, name, expiresAt: expiresAt ?? null, token: digest }
      }),
    ),
    cuts,
  }
}

/** The run of a row. */
export async function turnOf(key: SessionKey, row: TurnRow, blobs: Blobs): Promise<StoredTurn> {
  const { turnId, status, from } = row
  const open = (bytes: Uint8Array, part: string) => blobs.open(key, bytes, placeOf(key, row, part))
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
  blobs: Blobs,
): unknown {
  return blobs.open(key, bytes, placeOf(key, row, part))
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
  of: BlobOwner,
  { id, turnId, body }: { id: string; turnId: string; body: Uint8Array },
  blobs: Blobs,
): Promise<OutboxRecord> {
  const record = (await blobs.open(of, body, recordPlace(of.tenant, id))) as StoredRecord
  return { ...record, tenant: of.tenant, turnId }
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
