import type { SessionKey, StoredRecord, StoredTurn, Usage } from '@allium/core'
import type { Checkpoint, OutboxRecord, PassageTurn, ReadFiles, StoredStatus } from '@allium/store'
import { checkTurn, continuedTurn } from '@allium/store'
import { BlobExtractor, type BlobSources, type ExtractedText, nameBlobs, toRowText } from './blobs/blob-extractor.ts'
import type { BlobOwner } from './blobs/blob-table.ts'
import { type Blobs, type FilesOf, filesOfMessages } from './blobs/blobs.ts'
import { sealedRow } from './blobs/sealed-row.ts'
import type { EncryptionContext } from './encryption.ts'
import { LazyContext } from './lazy-context.ts'
import { splitCosts, withCosts } from './runs/run-costs.ts'
import { corrupt, type Sealer } from './sealer.ts'
import { shortInfo, usualInfo } from './turn-info.ts'

/** A run as a row: queried and counted fields in clear text, content sealed. */
export interface TurnRow {
  turnId: string
  idempotencyKey: string | null
  status: StoredStatus
  /** Why a durable run failed or was blocked. The turn itself has it in `info`. */
  code: string | null
  startedAt: number
  endedAt: number | null
  /** JSON. */
  usage: string
  from: number
  /** The number of messages. */
  count: number
  /** The digest of the whole run; empty for an open run. */
  digest: string
  /** The agent of the session's key when the row was sealed. It differs from the session's agent after a rename. */
  sealedAs: string
  messages: Uint8Array
  rest: Uint8Array
  /** All other fields. */
  info: Uint8Array
  /** How many messages of the checkpoint before stay. If there are any, `messages` is a part, which has all fields. */
  after: number
  /** The parts that checkpoints have added to an open run. */
  parts?: readonly Uint8Array[]
}

/** A record as a row of the outbox. */
export interface RecordRow {
  id: string
  at: number
  body: Uint8Array
  /** The blobs that the record refers to; a subset of the turn's blobs. */
  digests: readonly string[]
}

/** A pending call as a row. */
export interface PendingCallRow {
  callId: string
  turnId: string
  name: string
  expiresAt: number | null
  /** The digest of its token. */
  token: string
}

/** All rows that one run writes. */
export interface TurnRows {
  turn: TurnRow
  /** The digests under which the same run may have been stored, starting with that of `turn`. */
  digests: string[]
  records: RecordRow[]
  pendingCalls: PendingCallRow[]
  /** The blobs that the row refers to. */
  blobSources: BlobSources
}

/** Returns the rows of a run in progress, of which only ended runs have a digest. @throws AlliumError `state.invalid` */
export async function checkpointToRows(key: SessionKey, checkpoint: Checkpoint, sealer: Sealer): Promise<TurnRows> {
  const { after, ...turn } = checkTurn(checkpoint)
  if (!after?.messages) return turnToRows(key, turn, sealer, { isOpen: true })
  const context = turnContext(key, { turnId: turn.turnId, sealedAs: key.agent }, 'part')
  const [rows, { body, cuts: blobSources }] = await Promise.all([
    turnToRows(key, { ...turn, messages: [], calls: [], records: [] }, sealer, { isOpen: true }),
    sealedRow(sealer, key, checkpoint, context),
  ])
  const count = after.messages + turn.messages.length
  return { ...rows, turn: { ...rows.turn, after: after.messages, count, messages: body }, blobSources }
}

/**
 * @param options.isOpen whether the run has not ended. Its rows have no digest, because only an ended run is recognized by it
 * @throws AlliumError `state.invalid` when part of it cannot be serialized
 */
export async function turnToRows(
  key: SessionKey,
  turn: PassageTurn,
  sealer: Sealer,
  { isOpen = false }: { isOpen?: boolean } = {},
): Promise<TurnRows> {
  // Serialized before anything is awaited, because the caller may change it afterward.
  const extractor = new BlobExtractor(sealer.sourceCache)
  const { passages: _, ...known } = checkTurn(turn)
  const { messages, rest, records, from, turnId, status, startedAt, endedAt, usage, idempotencyKey, ...info } = known
  const place: Sealed = { turnId, sealedAs: key.agent }
  const texts = {
    messages: fieldText(extractor, 'messages', messages),
    rest: fieldText(extractor, 'rest', rest),
    info: extractor.serialize(shortInfo({ ...info, records }, { ...place, messages })),
  }
  const usageText = JSON.stringify(withCosts(usage, records))
  const count = messages.length
  const bodies = records.map((record) => ({ id: record.id, at: record.at, text: extractor.serialize(record) }))
  const calls = Object.entries(rest.suspension?.calls ?? {}).map(([callId, call]) => ({ ...call, callId }))
  const suspendedTurnId = rest.suspension?.turnId ?? ''

  const { sources: blobSources, toDigest } = await nameBlobs(extractor, (sha256) => sealer.blobName(sha256, key))
  const columns = [turnId, status, from, startedAt, endedAt, idempotencyKey, usageText]
  const digests = isOpen ? [''] : await sealer.digests(textToDigest(columns, Object.values(texts)), key.tenant)
  const sealPart = (text: ExtractedText, part: string) =>
    sealer.sealText(toRowText(text, toDigest), turnContext(key, place, part))
  return {
    turn: {
      ...place,
      idempotencyKey: idempotencyKey ?? null,
      status,
      code: info.code ?? null,
      startedAt,
      endedAt: endedAt ?? null,
      usage: usageText,
      from,
      count,
      digest: digests[0] ?? '',
      after: 0,
      messages: await sealPart(texts.messages, 'messages'),
      rest: await sealPart(texts.rest, 'rest'),
      info: await sealPart(texts.info, 'info'),
    },
    digests,
    records: await Promise.all(
      bodies.map(async ({ id, at, text }) => {
        const body = await sealer.sealText(toRowText(text, toDigest), recordContext(key.tenant, id))
        return { id, at, body, digests: [...new Set(text.sources.map(toDigest))] }
      }),
    ),
    pendingCalls: await Promise.all(
      calls.map(async ({ callId, name, expiresAt, token }) => {
        const [digest = ''] = await sealer.digests(token, key.tenant)
        return { callId, turnId: suspendedTurnId, name, expiresAt: expiresAt ?? null, token: digest }
      }),
    ),
    blobSources,
  }
}

/** Returns the text whose digest identifies the run, once its blobs are hashed. */
function textToDigest(columns: readonly unknown[], parts: readonly ExtractedText[]): string {
  const lines = parts.flatMap(({ text, sources }) => [text, ...sources.map((one) => one.reference(one.sha256))])
  return JSON.stringify([columns, lines])
}

/** Serializes the value of a field. An error names the field. */
function fieldText(extractor: BlobExtractor, name: string, value: unknown): ExtractedText {
  const { text, sources } = extractor.serialize({ [name]: value })
  return { text: text.slice(JSON.stringify(name).length + 2, -1), sources }
}

export type RowPart = 'messages' | 'rest' | 'info'

/**
 * Opens a part of a row: the messages, the rest of the session after it, or the other fields.
 *
 * @throws AlliumError `store.corrupt` if it is neither a list of messages nor an object
 */
export function openPartOf(
  key: SessionKey,
  row: Pick<TurnRow, 'turnId' | 'sealedAs'>,
  { part, bytes, blobs, filesOf }: { part: RowPart; bytes: Uint8Array; blobs: Blobs; filesOf?: FilesOf | undefined },
): unknown {
  const context = turnContext(key, row, part)
  const check = (value: unknown) => {
    if (part === 'messages' ? Array.isArray(value) : typeof value === 'object' && value !== null) return value
    throw corrupt(context, 'It has another form.')
  }
  const opened = blobs.open(key, bytes, context, filesOf)
  return opened instanceof Promise ? opened.then(check) : check(opened)
}

/** Opens the run of a row, with its parts. */
export async function turnFromRow(
  key: SessionKey,
  row: TurnRow,
  blobs: Blobs,
  files: ReadFiles = 'atOnce',
): Promise<StoredTurn> {
  const unread = files === 'onDemand' ? filesOfMessages : undefined
  const context = turnContext(key, row, 'part')
  let turn: StoredTurn | undefined = await firstTurnFromRow(key, row, blobs, unread)
  for (const body of row.parts ?? []) {
    const part = await blobs.open(key, body, context, unread && ((value) => unread((value as Checkpoint).messages)))
    turn = continuedTurn(turn, part as Checkpoint)
    if (turn === undefined) throw corrupt(context, 'It does not continue the part before.')
  }
  return turn
}

async function firstTurnFromRow(key: SessionKey, row: TurnRow, blobs: Blobs, unread?: FilesOf): Promise<StoredTurn> {
  const { turnId, status, from } = row
  const open = (part: RowPart, filesOf?: FilesOf) => openPartOf(key, row, { part, bytes: row[part], blobs, filesOf })
  const info = (await open('info')) as Partial<StoredTurn>
  const messages = (await open('messages', unread)) as StoredTurn['messages']
  const rest = (await open('rest')) as StoredTurn['rest']
  const turn: StoredTurn = {
    ...usualInfo({ ...row, messages }),
    ...info,
    turnId,
    status,
    startedAt: row.startedAt,
    usage: usageFromRow(key, row),
    from,
    messages,
    rest,
  }
  if (row.endedAt !== null) turn.endedAt = row.endedAt
  if (row.idempotencyKey !== null) turn.idempotencyKey = row.idempotencyKey
  return turn
}

function usageFromRow(key: SessionKey, row: TurnRow): Usage {
  try {
    return splitCosts(JSON.parse(row.usage)).usage
  } catch (cause) {
    throw corrupt(turnContext(key, row, 'usage'), cause)
  }
}

/** Opens the record of a row. */
export async function recordFromRow(
  of: BlobOwner,
  { id, turnId, body }: { id: string; turnId: string; body: Uint8Array },
  blobs: Blobs,
): Promise<OutboxRecord> {
  const record = (await blobs.open(of, body, recordContext(of.tenant, id))) as StoredRecord
  return { ...record, tenant: of.tenant, turnId }
}

type Sealed = Pick<TurnRow, 'turnId' | 'sealedAs'>

/** Returns the location of a part of a run's row. */
function turnContext(
  { tenant, owner, sessionId }: Omit<SessionKey, 'agent'>,
  { turnId, sealedAs }: Sealed,
  part: string,
): EncryptionContext {
  return new LazyContext(tenant, () => ['turn', owner, sealedAs, sessionId, turnId, part])
}

function recordContext(tenant: string, id: string): EncryptionContext {
  return { tenant, row: JSON.stringify(['record', id]) }
}
