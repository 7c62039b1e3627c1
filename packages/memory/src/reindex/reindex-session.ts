import { type Clock, isAlliumError, type SessionKey, type StoredTurn } from '@allium/core'
import type { PassageStore, SessionStore } from '@allium/store'
import type { Language } from '../recall/language.ts'
import { labelsIn } from '../recall/session-passages.ts'
import { passagesOf } from '../recall/turn-passages.ts'

interface Stores {
  readonly sessions: SessionStore
  readonly passages: PassageStore
}

interface How {
  readonly language: Language
  readonly labelsKey: string
  readonly clock: Clock
}

type Reindexed = { readonly passages: number; readonly skipped?: 'off' | 'changed' }

/** How often a session is begun again that gets new turns meanwhile. */
const maxAttempts = 5

/** Writes all passages of a session again. */
export async function reindexSession(stores: Stores, key: SessionKey, how: How): Promise<Reindexed> {
  const authors = await authorsOf(stores.passages, key)
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const terms = await termKey(stores.passages, key, how)
    if (terms === undefined) return { passages: 0, skipped: (await isOff(stores.passages, key)) ? 'off' : 'changed' }
    const written = await writeTurns(stores, key, { ...how, terms, authors })
    if (written !== undefined) return { passages: written }
  }
  return { passages: 0, skipped: 'changed' }
}

/** Writes one turn after the other. Returns undefined if the session has changed. */
async function writeTurns(
  { sessions, passages }: Stores,
  key: SessionKey,
  { language, labelsKey, terms, authors }: How & { terms: Uint8Array; authors: ReadonlyMap<string, string> },
): Promise<number | undefined> {
  const turns = (await sessions.head(key))?.version ?? 0
  const written: { from: number; count: number }[] = []
  let before = 0
  for (let version = 0; version < turns; version++) {
    const turn = await sessions.find(key, { version: version + 1 }, { files: 'onDemand' })
    if (turn === undefined) return undefined
    const author = authors.get(turn.turnId) ?? key.owner
    const origin = { author, before, labels: labelsIn(turn.rest.state[labelsKey]) }
    const own = passagesOf(turn, origin, { key: terms, language })
    // The first turn deletes the former passages of the session.
    const isNeeded = version === 0 || own.length > 0 || turn.from < before
    if (isNeeded && !(await passages.rewrite(key, { version, turns }, { ...turn, passages: own }))) return undefined
    while ((written.at(-1)?.from ?? -1) >= turn.from) written.pop()
    written.push({ from: turn.from, count: own.length - copiedOf(turn, version, own) })
    before = turn.from + turn.messages.length
  }
  return written.reduce((sum, { count }) => sum + count, 0)
}

/** Returns how many passages the store drops, because the first turn of a fork has copied their messages. */
function copiedOf(turn: StoredTurn & { copied?: number }, version: number, own: readonly { index: number }[]): number {
  const { from, copied = 0 } = turn
  return version > 0 ? 0 : own.filter(({ index }) => index < from + copied).length
}

/** Returns the key for the terms; undefined if memory is off, or the owner was erased just now. */
async function termKey(passages: PassageStore, { tenant, owner }: SessionKey, { clock }: How) {
  const writer = { tenant, owner, since: clock.now() }
  return passages.key({ tenant, owner }, writer).catch((error: unknown) => {
    if (isAlliumError(error, 'store.fenced')) return undefined
    throw error
  })
}

async function isOff(passages: PassageStore, { tenant, owner }: SessionKey): Promise<boolean> {
  return Object.keys(await passages.off({ tenant, owner })).length > 0
}

/** Returns the users who wrote the turns that have passages: sessions that a team shares have several. */
async function authorsOf(passages: PassageStore, { sessionId, ...scope }: SessionKey): Promise<Map<string, string>> {
  const authors = new Map<string, string>()
  for (let from = 0; ; from += pageSize) {
    const places = Array.from({ length: pageSize }, (_, i) => ({ sessionId, position: from + i }))
    const read = await passages.read(scope, places)
    for (const { turnId, author } of read) authors.set(turnId, author)
    if (read.length < pageSize) return authors
  }
}

const pageSize = 200
