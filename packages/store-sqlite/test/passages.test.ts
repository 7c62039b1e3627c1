import { readFileSync } from 'node:fs'
import type { SessionKey } from '@allium/core'
import type { PassageTurn } from '@allium/store'
import { blindTerms, withPassages } from '@allium/store/passages'
import { manualClock } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { aes } from '../../store-postgres/test/aes.ts'
import { type SqliteStore, sqlite } from '../src/index.ts'
import { selectPostings } from '../src/passage/passages.ts'
import { toToken } from '../src/passage/token.ts'
import { fileIn, raw } from './files.ts'
import { turn } from './stored-turn.ts'

const chat: SessionKey = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }

/** Appends a turn with one passage of these words. */
async function say({ passages, sessions }: SqliteStore, key: SessionKey, words: string[]): Promise<string[]> {
  const { lease } = await sessions.acquire(key, 1000)
  if (lease === undefined) throw new Error('It is leased.')
  const terms = blindTerms((await passages.key(key, { ...key, since: 0, lease })) as Uint8Array, words)
  const counts = Object.fromEntries(terms.map((term) => [term, 1]))
  const from = lease.version
  const passage = { index: from, role: 'user', author: key.owner, at: 0, terms: counts, words: words.length } as const
  const said = { ...turn, turnId: `${from}`, from, messages: [{ role: 'user' as const, content: words.join(' ') }] }
  const stored: PassageTurn = withPassages(said, { passages: [passage] })
  await sessions.append(lease, lease.version, stored, { release: true })
  return terms
}

/** Stores the bytes of a text as the vector of the first passage. */
async function putVector({ passages }: SqliteStore, text: string): Promise<void> {
  const [passage] = await passages.read(chat, [{ sessionId: chat.sessionId, position: 0 }])
  if (passage === undefined) throw new Error('There is no passage.')
  await passages.putVectors(chat, 'model', [{ ...passage, vector: Int8Array.from(Buffer.from(text)) }])
}

it('seals vectors, and takes one that was changed or moved for a missing one', async () => {
  const path = fileIn()
  const store = sqlite(path, { clock: manualClock(), encrypt: aes() })
  await say(store, chat, ['marmalade'])
  const vectors = () => store.passages.vectors(chat, [{ sessionId: chat.sessionId, position: 0 }], 'model')
  await putVector(store, 'vector of marmalade')
  expect(Buffer.from((await vectors())[0]?.vector ?? []).toString()).toBe('vector of marmalade')
  raw(path, (db) => db.pragma('wal_checkpoint(TRUNCATE)'))
  expect(readFileSync(path, 'latin1')).not.toContain('vector of')
  raw(path, (db) => db.prepare('update passage_vectors set vector = zeroblob(40)').run([]))
  expect(await vectors()).toEqual([])
  await putVector(store, 'again')
  expect(Buffer.from((await vectors())[0]?.vector ?? []).toString()).toBe('again')
  store.close()
})

describe('the file of a store', () => {
  const removals: [string, (store: SqliteStore) => Promise<unknown>][] = [
    ['delete()', ({ sessions }) => sessions.delete(chat)],
    ['erase()', ({ sessions }) => sessions.erase({ tenant: chat.tenant, owner: chat.owner })],
    ['expire()', ({ sessions }) => sessions.expire({ olderThan: 1000 })],
  ]

  it.each(removals)('has no word, no term and no vector of a session after %s', async (_, remove) => {
    const path = fileIn()
    const clock = manualClock()
    const store = sqlite(path, { clock, synchronous: 'normal' })
    const terms = await say(store, chat, ['marmalade', 'rhubarb'])
    await putVector(store, 'vector of marmalade')
    await clock.advance(5000)
    for (let i = 0; i < 20; i++) await say(store, { ...chat, owner: `owner ${i}` }, ['tea', `word${i}`])
    const inFile = () => {
      raw(path, (db) => db.pragma('wal_checkpoint(TRUNCATE)'))
      const bytes = readFileSync(path, 'latin1')
      // The index has the first characters of a token only once for its neighbours.
      return ['marmalade', 'rhubarb', 'vector of', ...terms.map((term) => toToken(term).slice(4))].filter((one) =>
        bytes.includes(one),
      )
    }
    expect(inFile()).toHaveLength(5)
    await remove(store)
    expect(inFile()).toEqual([])
    store.close()
  })
})

it('finds nothing of other owners even without the condition on the owner', async () => {
  const path = fileIn()
  const store = sqlite(path, { clock: manualClock(), synchronous: 'normal' })
  const owners = Array.from({ length: 50 }, (_, i) => ({ ...chat, tenant: `tenant ${i}` }))
  const words = Array.from({ length: 20 }, (_, i) => `word${i}`)
  const terms: string[][] = []
  for (const key of owners) terms.push(await say(store, key, words))
  store.close()
  const unfiltered = selectPostings.replace(/where p\.tenant = \?1 and p\.owner = \?2 and p\.agent = \?3/, '')
  expect(unfiltered).not.toContain('p.tenant')
  const ask = (term: string) =>
    raw(path, (db) => db.prepare(unfiltered.replaceAll('?4', '?')).all([toToken(term)]) as { session: string }[]).length
  // Each term of each owner is found once: at that owner.
  expect(terms.flatMap((own, i) => (i % 5 === 0 ? own.map(ask) : [])).every((count) => count === 1)).toBe(true)
})
