import type { Lease, SessionKey, StoredTurn, Writer } from '@allium/core'
import type { NewPassage, PassagePlace, PassageScope, PassageStore, PassageTurn, SessionStore } from '@allium/store'
import { blindTerms, withPassages } from '@allium/store/passages'
import { check, checkResolves } from '../check.ts'
import { acquireLease, chat, nowOf, turnOf } from '../store/bench.ts'

/** A store of passages, and the sessions that write them. */
export interface PassageStoreParts {
  readonly passages: PassageStore
  readonly sessions: SessionStore
}

/** The test bench of a case. */
export interface PassageBench extends PassageStoreParts {
  /** The same data as another process sees it; the parts themselves if they cannot be opened again. */
  other: PassageStoreParts
  /** The duration of a lease, in milliseconds. */
  lease: number
  /** Lets time pass. */
  wait(ms: number): Promise<void>
}

/** The cases of one file by name. */
export type PassageCases = Readonly<Record<string, (bench: PassageBench) => Promise<void>>>

/** What a turn of a case has besides its text. */
export interface TurnOptions extends Partial<Pick<StoredTurn, 'turnId' | 'from' | 'messages' | 'status'>> {
  readonly copied?: number
  /** Changes its passages. */
  readonly change?: (passage: NewPassage) => NewPassage
}

export const scopeOf = ({ tenant, owner, agent }: SessionKey): PassageScope => ({ tenant, owner, agent })

/** Acquires the session for long enough. */
export const hold = ({ sessions, lease }: PassageBench, key = chat) => acquireLease(sessions, key, lease * 100)

/** A run under the lease that begins now. */
export async function writerOf({ sessions, other, lease: ms, wait }: PassageBench, lease: Lease): Promise<Writer> {
  const since = await nowOf({ store: sessions, other: other.sessions, lease: ms, wait })
  const { tenant, owner } = lease.key
  return { tenant, owner, since, lease }
}

/** Returns a turn with the passages of its messages. Their words are separated by spaces. */
export async function turnWith(
  { passages }: PassageStoreParts,
  lease: Lease,
  text: string,
  { copied, change = (passage) => passage, ...more }: TurnOptions = {},
): Promise<PassageTurn> {
  // The lease fences it. For a store that fences by time, it began after every erasure.
  const writer = { ...lease.key, since: 8.64e15, lease }
  const key = await checkResolves(passages.key(writer, writer), 'key() with a writer should make a key')
  check(key !== undefined, 'key() with a writer returns a key')
  const turn = { ...turnOf(text, more.from), ...more }
  const added = turn.messages.map(({ role, content }, i) => passageOf(key, String(content), turn.from + i, role))
  return withPassages(turn, { passages: added.map(change), ...(copied !== undefined && { copied }) })
}

function passageOf(key: Uint8Array, text: string, index: number, role: string): NewPassage {
  const words = text.split(' ')
  const terms: Record<string, number> = {}
  for (const term of blindTerms(key, words)) terms[term] = (terms[term] ?? 0) + 1
  const author = role === 'user' ? 'ann' : ''
  const flow = { ...(role === 'assistant' && { untrusted: true }) }
  return {
    index,
    role: role === 'user' ? 'user' : 'assistant',
    author,
    at: 1000 + index,
    terms,
    words: words.length,
    flow,
  }
}

/** Appends a turn of question and answer for each text, at the end of the history. */
export async function say(bench: PassageBench, key: SessionKey, ...texts: (string | [string, TurnOptions])[]) {
  const lease = await hold(bench, key)
  let length = (await bench.sessions.load(key))?.history.length ?? 0
  for (const [i, given] of texts.entries()) {
    const [text, options = {}] = typeof given === 'string' ? [given] : given
    const turn = await turnWith(bench, lease, text, {
      from: length,
      turnId: `turn ${lease.version + i}: ${text}`,
      ...options,
    })
    await checkResolves(bench.sessions.append(lease, lease.version + i, turn), 'A turn with passages should be stored')
    length = turn.from + turn.messages.length
  }
  await bench.sessions.release(lease)
}

/** Finds words, as `session/position/index:word*count of words`. */
export async function find({ passages }: PassageStoreParts, of: SessionKey, ...words: string[]): Promise<string[]> {
  const key = await passages.key({ tenant: of.tenant, owner: of.owner })
  if (key === undefined) return []
  const terms = blindTerms(key, words)
  const found = await passages.postings(scopeOf(of), terms)
  return found.map(({ sessionId, position, index, term, count, words: length }) => {
    const word = words[terms.indexOf(term)] ?? 'unknown'
    return `${sessionId}/${position}/${index}:${word}*${count} of ${length}`
  })
}

/** Reads the texts at some positions of a session. */
export async function textsAt({ passages }: PassageStoreParts, key: SessionKey, ...positions: number[]) {
  const places = positions.map((position): PassagePlace => ({ sessionId: key.sessionId, position }))
  return (await passages.read(scopeOf(key), places)).map(({ text }) => text)
}
