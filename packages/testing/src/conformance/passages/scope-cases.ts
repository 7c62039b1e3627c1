import type { SessionKey } from '@allium/core'
import { blindTerms } from '@allium/store/passages'
import { check, checkEqual, checkRejects } from '../check.ts'
import { hostileNames, lookAlikes } from '../hostile-names.ts'
import { chat } from '../store/bench.ts'
import { find, hold, type PassageBench, type PassageCases, say, scopeOf, textsAt, turnWith } from './passage-bench.ts'

const bob: SessionKey = { ...chat, owner: 'bob' }
const globex: SessionKey = { ...chat, tenant: 'globex' }

/** Cases: owners are apart. */
export const scopeCases: PassageCases = {
  async 'has no key of an owner before the first writer, and keeps one for all processes'(bench) {
    checkEqual(await bench.passages.key(chat), undefined, 'key() of an owner without passages')
    const lease = await hold(bench)
    await turnWith(bench, lease, 'tea')
    const key = await bench.passages.key(chat)
    checkEqual(key?.byteLength, 32, 'key() has 32 bytes')
    checkEqual(await bench.other.passages.key(chat), key, 'key() in another process')
    await turnWith({ ...bench, ...bench.other }, lease, 'milk')
    checkEqual(await bench.passages.key(chat), key, 'key() after another writer')
  },

  async 'gives each owner another key, so that no term of one is found at another'(bench) {
    const keys: unknown[] = []
    for (const key of [chat, bob, globex]) {
      await say(bench, key, 'tea')
      keys.push(String(await bench.passages.key(key)))
    }
    checkEqual(new Set(keys).size, 3, 'Three owners have three keys')
    for (const [asker, asked] of [chat, bob, globex].flatMap((a) => [chat, bob, globex].map((b) => [a, b] as const))) {
      const terms = blindTerms((await bench.passages.key(asker)) as Uint8Array, ['tea'])
      const found = await bench.other.passages.postings(scopeOf(asked), terms)
      checkEqual(found.length, asker === asked ? 2 : 0, `Terms of ${asker.owner} asked at ${asked.owner}`)
    }
  },

  async 'finds, reads and counts nothing of another agent of the owner'(bench) {
    const other = { ...chat, agent: 'other' }
    await say(bench, chat, 'tea')
    for (const one of [other, { ...chat, agent: '' }, { ...chat, agent: '%' }]) {
      checkEqual(await find(bench, one, 'tea'), [], 'postings() of another agent')
      checkEqual(await textsAt(bench, one, 0, 1), [], 'read() of another agent')
      checkEqual((await bench.passages.count(scopeOf(one))).passages, 0, 'count() of another agent')
    }
    await say(bench, other, 'tea')
    checkEqual((await find(bench.other, chat, 'tea')).length, 2, 'postings() of the agent')
  },

  async 'keeps owners apart, whatever their names are'(bench) {
    const names = hostileNames.filter((name) => !name.includes('\0') && name !== '')
    const keys: SessionKey[] = [
      ...names.flatMap((name) => [
        { ...chat, tenant: name },
        { ...chat, owner: name },
      ]),
      ...lookAlikes.map(([tenant, owner]) => ({ ...chat, tenant, owner })),
    ]
    for (const [i, key] of keys.entries()) await say(bench, key, `secret${i}`)
    for (const [i, key] of keys.entries()) {
      checkEqual((await find(bench.other, key, `secret${i}`)).length, 2, `${JSON.stringify(key)} finds its own`)
      checkEqual(await textsAt(bench, key, 0, 1, 2), [`secret${i}`, `re: secret${i}`], 'and reads only its own')
      checkEqual((await bench.passages.count(scopeOf(key))).passages, 2, 'and counts only its own')
    }
  },

  async 'returns the same whatever other owners write'(bench) {
    await say(bench, chat, 'tea milk', 'tea')
    const answers = async () => [
      await find(bench, chat, 'tea', 'milk'),
      await bench.other.passages.count(scopeOf(chat)),
      await textsAt(bench, chat, 0, 1, 2, 3, 4),
    ]
    const before = await answers()
    for (const key of [bob, globex]) await say(bench, key, 'tea tea', 'milk milk milk tea', 'one two three four')
    checkEqual(await answers(), before, 'postings(), count() and read() of an owner')
  },

  async 'rejects names that a database would change'({ passages }) {
    for (const name of ['a\ud800', 'a\0', 'x'.repeat(2049), 7, null, undefined] as string[])
      for (const field of ['tenant', 'owner', 'agent'] as const) {
        const scope = { ...scopeOf(chat), [field]: name }
        if (field !== 'agent') await checkRejects(passages.key(scope), 'store.key', `key() with ${field}`)
        await checkRejects(passages.postings(scope, []), 'store.key', `postings() with ${field}`)
        await checkRejects(passages.read(scope, []), 'store.key', `read() with ${field}`)
        await checkRejects(passages.count(scope), 'store.key', `count() with ${field}`)
      }
  },

  async 'rejects passages that do not belong to the turn, and stores nothing then'(bench) {
    for (const [what, change] of Object.entries(badChanges)) {
      const lease = await hold(bench)
      const turn = await turnWith(bench, lease, 'tea')
      const passages = turn.passages?.map((one) => ({ ...one, ...change })) as typeof turn.passages
      const bad = bench.sessions.append(lease, 0, { ...turn, ...(passages && { passages }) })
      await checkRejects(bad, what === 'author' ? 'store.key' : 'state.invalid', `append() with ${what}`)
      await bench.sessions.release(lease)
      await checkNothing(bench)
    }
  },
}

const badChanges = {
  'the index of a message before it': { index: -1 },
  'the index of a message after it': { index: 2 },
  'an index twice': { index: 0 },
  'another role': { role: 'tool' },
  'a time that is none': { at: Number.NaN },
  'a negative number of words': { words: -1 },
  'a word as a term': { terms: { tea: 1 } },
  'a count of 0': { terms: { ffffffffffffffff: 0 } },
  'no terms': { terms: null },
  'labels that are none': { flow: 'private' },
  author: { author: 'a\0' },
}

async function checkNothing({ other }: PassageBench): Promise<void> {
  checkEqual((await other.passages.count(scopeOf(chat))).passages, 0, 'No passage is stored')
  check((await other.sessions.load(chat)) === undefined, 'and no turn')
}
