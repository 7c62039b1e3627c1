import type { SessionKey } from '@allium/core'
import type { NewPassage } from '@allium/store'
import { blindTerms } from '@allium/store/passages'
import { checkEqual, checkRejects } from '../check.ts'
import { seeded } from '../random.ts'
import { chat } from '../store/bench.ts'
import { find, hold, type PassageCases, say, scopeOf, textsAt, turnWith } from './passage-bench.ts'

const later: SessionKey = { ...chat, sessionId: 'later' }

/** Cases: what is found, read and counted. */
export const findCases: PassageCases = {
  async 'finds the messages in which terms occur, by term and the last appended first'(bench) {
    await say(bench, chat, 'tea tea milk', 'coffee')
    await say(bench, later, 'tea')
    const tea = ['later/1/1:tea*1 of 2', 'later/0/0:tea*1 of 1', 'chat/1/1:tea*2 of 4', 'chat/0/0:tea*2 of 3']
    for (const parts of [bench, bench.other]) {
      checkEqual(await find(parts, chat, 'tea'), tea, 'postings() of one term')
      const coffee = ['chat/3/3:coffee*1 of 2', 'chat/2/2:coffee*1 of 1']
      checkEqual(await find(parts, chat, 'coffee', 'none', 'tea'), [...coffee, ...tea], 'postings() of several')
      checkEqual(await find(parts, chat, 'none'), [], 'postings() of a term that does not occur')
      checkEqual(await find(parts, chat), [], 'postings() without terms')
    }
  },

  async 'finds the same in a random history as a search of all its messages'(bench) {
    const random = seeded(51)
    const word = () => `w${random.below(1 + random.below(30))}`
    const history: string[] = []
    const lease = await hold(bench)
    for (let version = 0; version < 40; version++) {
      const text = Array.from({ length: 1 + random.below(8) }, word).join(' ')
      const from = Math.max(0, history.length - random.pick([0, 0, 0, 2, 5]))
      history.splice(from, Number.POSITIVE_INFINITY, text, `re: ${text}`)
      const turn = await turnWith(bench, lease, text, { turnId: `turn ${version}`, from })
      await bench.sessions.append(lease, version, turn)
    }
    for (const wanted of ['w0', 'w1', 'w7', 'w29', 're:']) {
      const expected = history.flatMap((text, i) => {
        const words = text.split(' ')
        const count = words.filter((one) => one === wanted).length
        return count === 0 ? [] : [`chat/${i}/${i}:${wanted}*${count} of ${words.length}`]
      })
      checkEqual(await find(bench.other, chat, wanted), expected.toReversed(), `postings() of "${wanted}"`)
    }
  },

  async 'reads passages with their texts in the given order, without those that do not exist'(bench) {
    const trusted = (passage: NewPassage) => ({ ...passage, flow: {} })
    await say(bench, chat, ['one', { change: trusted }], 'two')
    const places = [3, -1, 0, 4, 0.5].map((position) => ({ sessionId: 'chat', position }))
    const read = await bench.other.passages.read(scopeOf(chat), [...places, { sessionId: 'none', position: 0 }])
    const two = { position: 3, index: 3, role: 'assistant', turnId: 'turn 1: two', author: '', at: 1003, words: 2 }
    const one = { position: 0, index: 0, role: 'user', turnId: 'turn 0: one', author: 'ann', at: 1000, words: 1 }
    const expected = [
      { sessionId: 'chat', ...two, flow: { untrusted: true }, text: 're: two' },
      { sessionId: 'chat', ...one, flow: {}, text: 'one' },
    ]
    checkEqual(read, expected, 'read() returns the passages')
    checkEqual(await bench.passages.read(scopeOf(chat), []), [], 'read() without places')
  },

  async 'keeps the labels of a passage, and labels one without them as untrusted'(bench) {
    const labels = [{}, { private: true }, { untrusted: true, private: true }, undefined, { untrusted: false }]
    for (const [i, flow] of labels.entries()) {
      const change = ({ flow: _, ...passage }: NewPassage) => (flow === undefined ? passage : { ...passage, flow })
      await say(bench, { ...chat, sessionId: `${i}` }, ['tea', { change }])
    }
    const places = labels.map((_, i) => ({ sessionId: `${i}`, position: 0 }))
    const read = await bench.other.passages.read(scopeOf(chat), places)
    const expected = [{}, { private: true }, { untrusted: true, private: true }, { untrusted: true }, {}]
    checkEqual(
      read.map(({ flow }) => flow),
      expected,
      'read() returns the labels',
    )
  },

  async 'counts positions without gaps where messages have no passage'(bench) {
    const lease = await hold(bench)
    const roles = ['user', 'assistant', 'tool', 'assistant'] as const
    const messages = roles.map((role, i) => ({ role, content: `tea ${i}` }))
    const turn = await turnWith(bench, lease, 'tea', { messages })
    const passages = turn.passages?.filter(({ index }) => index % 3 === 0) ?? []
    await bench.sessions.append(lease, 0, { ...turn, passages })
    await bench.sessions.release(lease)
    await say(bench, chat, 'milk')
    checkEqual(await find(bench.other, chat, 'tea'), ['chat/1/3:tea*1 of 2', 'chat/0/0:tea*1 of 2'], 'Positions')
    checkEqual(await textsAt(bench, chat, 0, 1, 2, 3), ['tea 0', 'tea 3', 'milk', 're: milk'], 'read() by position')
  },

  async 'counts the passages of a scope, and their mean length'(bench) {
    checkEqual(await bench.passages.count(scopeOf(chat)), { passages: 0, meanWords: 0 }, 'count() without passages')
    await say(bench, chat, 'one', 'one two three')
    await say(bench, later, 'one')
    await say(bench, { ...chat, owner: 'bob' }, 'one two three four five')
    await say(bench, { ...chat, agent: 'other' }, 'one two three four five')
    checkEqual(
      await bench.other.passages.count(scopeOf(chat)),
      { passages: 6, meanWords: 13 / 6 },
      'count() of a scope',
    )
  },

  async 'keeps the first 2,048 terms of a passage, and counts each up to 15'(bench) {
    const lease = await hold(bench)
    const words = Array.from({ length: 3000 }, (_, i) => `w${i}`)
    const turn = await turnWith(bench, lease, 'tea')
    const key = (await bench.passages.key(chat)) as Uint8Array
    const terms = Object.fromEntries(blindTerms(key, words).map((term) => [term, 1_000_000]))
    const passages = turn.passages?.map((one) => ({ ...one, terms, words: 3_000_000_000 }))
    await bench.sessions.append(lease, 0, { ...turn, ...(passages && { passages }) })
    const found = ['chat/1/1:w2047*15 of 1000000', 'chat/0/0:w2047*15 of 1000000']
    checkEqual(await find(bench.other, chat, 'w2047', 'w2048'), found, 'postings() of the last term')
  },

  async 'rejects questions out of bounds, and texts that are no terms'(bench) {
    await say(bench, chat, 'tea')
    const term = 'f'.repeat(16)
    const scope = scopeOf(chat)
    checkEqual(await bench.passages.postings(scope, Array(64).fill(term)), [], '64 terms are accepted')
    const bad: unknown[] = [
      'tea',
      '*',
      `${term}*`,
      `"${term}"`,
      `${term} OR tea`,
      term.toUpperCase(),
      '',
      `${term}\0`,
      7,
    ]
    for (const one of [...bad, null])
      await checkRejects(bench.passages.postings(scope, [one as string]), 'options.invalid', `The term ${one}`)
    await checkRejects(bench.passages.postings(scope, Array(65).fill(term)), 'options.invalid', '65 terms')
    const places = Array.from({ length: 1001 }, (_, position) => ({ sessionId: 'chat', position }))
    await checkRejects(bench.passages.read(scope, places), 'options.invalid', 'read() of 1,001 places')
    checkEqual((await bench.passages.read(scope, places.slice(1))).length, 1, 'read() of 1,000')
  },
}
