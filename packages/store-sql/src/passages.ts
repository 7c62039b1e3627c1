import { AlliumError, type FlowLabels, isAlliumError, type Message } from '@allium/core'
import type {
  MemoryOff,
  NewPassageVector,
  Passage,
  PassageCount,
  PassageScope,
  PassageVector,
  Posting,
} from '@allium/store'
import { passageText } from '@allium/store/passages'
import {
  type Blobs,
  type EncryptionContext,
  filesOfMessages,
  openPart,
  type Sealer,
  type SqlRow,
  toBytes,
} from '@allium/store-sql'

/** The owner of a key. */
export type KeyOwner = Pick<PassageScope, 'tenant' | 'owner'>

/** Returns a new key for the terms of an owner, sealed as its row has it. */
export async function newScopeKey(sealer: Sealer, owner: KeyOwner): Promise<Uint8Array> {
  return sealer.sealBytes(crypto.getRandomValues(new Uint8Array(32)), keyContext(owner))
}

/** Opens the key of a row. @throws AlliumError `store.sealed`, `store.corrupt`, `store.unavailable` */
export async function openScopeKey(sealer: Sealer, owner: KeyOwner, row: SqlRow): Promise<Uint8Array> {
  const key = await sealer.openBytes(toBytes(row.key), keyContext(owner))
  if (key.byteLength === 32) return key
  throw new AlliumError(
    'store.corrupt',
    `The key of the passages of the owner "${owner.owner}" has ${key.byteLength} bytes instead of 32. Erase the owner, or restore it from a backup.`,
    { details: { tenant: owner.tenant } },
  )
}

/** Returns a number for labels, as a row has them. */
export function flowToNumber(flow: FlowLabels): number {
  return (flow.untrusted === true ? 1 : 0) + (flow.private === true ? 2 : 0)
}

/** Parses a row of a term in a passage. */
export function postingFromRow(term: string, row: SqlRow): Posting {
  const { session, position, idx, count, words } = row
  const [place, index] = [{ sessionId: String(session), position: Number(position) }, Number(idx)]
  return { ...place, index, term, count: Number(count), words: Number(words) }
}

/** Parses the row with the number of passages and the sum of their words. */
export function passageCountFromRow(row: SqlRow | undefined): PassageCount {
  const [passages, words] = [Number(row?.passages ?? 0), Number(row?.words ?? 0)]
  return { passages, meanWords: passages === 0 ? 0 : words / passages }
}

/** Parses the rows of the switches of a person and their tenant. */
export function memoryOffFromRows(rows: readonly SqlRow[]): MemoryOff {
  return Object.fromEntries(rows.map(({ owner, off }) => [owner === '' ? 'tenant' : 'person', Number(off)]))
}

/**
 * Opens the passages of rows, each with the turn of its message. The messages of a turn are opened once.
 *
 * @throws AlliumError `store.sealed`, `store.corrupt`, `store.unavailable`
 */
export async function passagesFromRows(
  { agent, ...owner }: PassageScope,
  rows: readonly SqlRow[],
  blobs: Blobs,
): Promise<Passage[]> {
  const turns = new Map<string, Promise<Message[]>>()
  const messagesOf = (row: SqlRow) => {
    const name = JSON.stringify([row.session, row.turn_id])
    const key = { ...owner, agent, sessionId: String(row.session) }
    const messages = turns.get(name) ?? Promise.resolve(openPart(key, row, 'messages', blobs, filesOfMessages))
    turns.set(name, messages as Promise<Message[]>)
    return messages as Promise<Message[]>
  }
  return Promise.all(rows.map(async (row) => passageFromRow(row, await messagesOf(row))))
}

function passageFromRow(row: SqlRow, messages: readonly Message[]): Passage {
  const { session, position, idx, start, turn_id, role, author, at, words } = row
  const flow = Number(row.flow)
  const message = messages[Number(idx) - Number(start)]
  return {
    ...{ sessionId: String(session), position: Number(position), index: Number(idx), turnId: String(turn_id) },
    role: role === 'user' ? 'user' : 'assistant',
    author: String(author),
    at: Number(at),
    words: Number(words),
    flow: { ...((flow & 1) !== 0 && { untrusted: true }), ...((flow & 2) !== 0 && { private: true }) },
    text: message === undefined ? '' : passageText(message),
  }
}

/** Returns the bytes of a vector, sealed as its row has them. */
export async function sealVector(
  sealer: Sealer,
  owner: KeyOwner,
  { vector, ...passage }: NewPassageVector,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)
  return sealer.sealBytes(bytes, vectorContext(owner, passage))
}

/**
 * Opens the vectors of rows. One that can never be opened counts as missing, because it is made again from the text.
 *
 * @throws AlliumError `store.unavailable`
 */
export async function vectorsFromRows(
  sealer: Sealer,
  owner: KeyOwner,
  rows: readonly SqlRow[],
): Promise<PassageVector[]> {
  const opened = await Promise.all(
    rows.map(async (row) => {
      const [sessionId, position, index] = [String(row.session), Number(row.position), Number(row.idx)]
      const context = vectorContext(owner, { sessionId, turnId: String(row.turn_id), index })
      try {
        const bytes = await sealer.openBytes(toBytes(row.vector), context)
        return {
          sessionId,
          position,
          vector: Int8Array.from(new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
        }
      } catch (error) {
        if (isAlliumError(error, 'store.sealed')) return undefined
        throw error
      }
    }),
  )
  return opened.flatMap((one) => one ?? [])
}

/** The place of a vector. It does not name the agent, which may be renamed. */
function vectorContext(
  { tenant, owner }: KeyOwner,
  { sessionId, turnId, index }: Pick<NewPassageVector, 'sessionId' | 'turnId' | 'index'>,
): EncryptionContext {
  return { tenant, row: JSON.stringify(['vector', owner, sessionId, turnId, index]) }
}

/** The place of a key. It does not name an agent, because all agents of an owner share it. */
function keyContext({ tenant, owner }: KeyOwner): EncryptionContext {
  return { tenant, row: JSON.stringify(['scope', owner]) }
}
