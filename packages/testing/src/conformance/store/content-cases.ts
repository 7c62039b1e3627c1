import type { Message, StoredTurn } from '@allium/core'
import { check, checkEqual, checkRejects } from '../check.ts'
import { acquireLease, add, chat, type StoreCases, suspendedTurn, textsIn, turnOf } from './bench.ts'
import { richTurn, texts } from './samples.ts'

/** Cases: stored content is returned unchanged. */
export const contentCases: StoreCases = {
  async 'refuses a turn that it could not give back, and keeps the session as it was'(bench) {
    const { store, other, lease: ms } = bench
    await add(bench, chat, turnOf('one'))
    const broken = [
      { messages: null },
      { from: -1 },
      { from: 0.5 },
      { records: {} },
      { rest: null },
      { startedAt: 1e308 },
    ]
    for (const field of broken) {
      const lease = await acquireLease(store, chat, ms * 10)
      const turn = { ...turnOf('two', 2), ...field } as StoredTurn
      for (const write of ['append', 'checkpoint'] as const)
        await checkRejects(
          (async () => await store[write](lease, 1, turn))(),
          'state.invalid',
          `${write}() of a turn with ${JSON.stringify(field)}`,
        )
      await store.release(lease)
    }
    checkEqual((await other.load(chat))?.version, 1, 'Nothing was stored')
  },

  async 'gives nothing for a session that was never stored'({ store }) {
    checkEqual(await store.load(chat), undefined, 'load() of a missing session returns undefined')
  },

  async 'returns nothing for a session that was locked, but not written'(bench) {
    await add(bench, chat)
    checkEqual(await bench.store.load(chat), undefined, 'A lease alone stores nothing')
  },

  async 'gives back every kind of message, bytes and URLs as such, and the whole rest'(bench) {
    await add(bench, chat, richTurn())
    const { messages, rest } = richTurn()
    const stored = await bench.other.load(chat)
    checkEqual(stored, { version: 1, owner: chat.owner, history: messages, rest }, 'load() returns the appended data')
  },

  async 'takes times of a clock that counts parts of a millisecond'(bench) {
    const waiting = suspendedTurn('parts', { c1: { token: 'a token', expiresAt: 4_000_000_000_000.25 } })
    await add(bench, chat, { ...waiting, startedAt: 1000.25, endedAt: 2000.75 })
    const { startedAt = 0, endedAt = 0 } = (await bench.other.find(chat, { turnId: waiting.turnId })) ?? {}
    checkEqual(
      [startedAt, endedAt].map(Math.floor),
      [1000, 2000],
      'find() gives the times of the turn, in milliseconds',
    )
    checkEqual((await bench.other.load(chat))?.rest, waiting.rest, 'load() gives the rest that was appended')
  },

  async 'returns any text unchanged'(bench) {
    const said = [...texts, ...texts.map((text) => [{ type: 'text' as const, text }])]
    const messages = said.map((content): Message => ({ role: 'user', content }))
    await add(bench, chat, { ...turnOf('any'), messages })
    checkEqual((await bench.other.load(chat))?.history, messages, 'load() gives the texts that were appended')
  },

  async 'takes a text with half a character: as it is, or with U+FFFD in its place'(bench) {
    const broken = ['\ud83d', 'cut \ud83d off', '\udc69 begins']
    await add(bench, chat, { ...turnOf('half'), messages: broken.map((content) => ({ role: 'user', content })) })
    const loaded = await textsIn(bench.other, chat)
    const replaced = broken.map((text) => text.replace(/[\ud800-\udfff]/g, '\ufffd'))
    if (loaded[0] === broken[0]) checkEqual(loaded, broken, 'Either all lone surrogates remain, or none')
    else checkEqual(loaded, replaced, 'A lone surrogate remains, or becomes one U+FFFD')
  },

  async 'takes keys such as __proto__ as data, and lets them change no prototype'(bench) {
    const args = JSON.parse(
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":2}},"toString":3,"a":4}',
    )
    const call: StoredTurn['messages'][0] = {
      role: 'assistant',
      content: [{ type: 'tool-call', callId: 'c', name: 't', args }],
    }
    const state = JSON.parse('{"__proto__":{"polluted":1},"constructor":1,"kept":2}')
    await add(bench, chat, { ...turnOf('keys', 0, state), messages: [call] })
    const stored = await bench.other.load(chat)
    const part = stored?.history[0]?.content[0] as { args: Record<string, unknown> } | undefined
    const read = [part?.args ?? {}, stored?.rest.state ?? {}]
    check(!('polluted' in {}), 'Stored keys do not change Object.prototype')
    for (const data of read)
      check(Object.getPrototypeOf(data)?.polluted === undefined, 'A stored __proto__ key does not become a prototype')
    checkEqual(
      [read[0]?.constructor, read[0]?.toString, read[0]?.a, read[1]?.constructor, read[1]?.kept],
      [args.constructor, 3, 4, 1, 2],
      'Keys other than __proto__ are unchanged',
    )
  },

  async 'replaces the history from the index `from` on, and the whole rest'(bench) {
    const waits = { ...turnOf('one'), rest: { state: { old: 1 }, usedApprovals: ['x'] } }
    await add(bench, chat, waits, turnOf('two', 2, { two: 2 }), turnOf('three', 1, { three: 3 }))
    checkEqual(
      await bench.other.load(chat),
      {
        version: 3,
        owner: chat.owner,
        history: [waits.messages[0], ...turnOf('three').messages],
        rest: { state: { three: 3 } },
      },
      'A turn with from: 1 replaces all messages after the first one',
    )
  },

  async 'takes a turn without messages, and one that replaces everything'(bench) {
    await add(bench, chat, turnOf('one'), { ...turnOf('none', 2), messages: [] }, turnOf('new', 0))
    checkEqual(await textsIn(bench.other, chat), ['new', 're: new'], 'from: 0 replaces all')
    checkEqual((await bench.other.load(chat))?.version, 3, 'Each turn counts, even without messages')
  },

  async 'keeps a long session in order'(bench) {
    const turns = Array.from({ length: 200 }, (_, i) => turnOf(String(i), i * 2))
    await add(bench, chat, ...turns)
    const expected = turns.flatMap(({ messages }) => messages.map(({ content }) => content))
    checkEqual(await textsIn(bench.other, chat), expected, 'Messages come in the order in which they were appended')
  },

  async 'deletes a session, and no other, and accepts its id again'(bench) {
    const other = { ...chat, sessionId: 'other' }
    await add(bench, chat, turnOf('one'), turnOf('two', 2))
    await add(bench, other, turnOf('stays'))
    await bench.store.delete(chat)
    await bench.store.delete(chat)
    checkEqual(await bench.other.load(chat), undefined, 'load() after delete() gives undefined')
    checkEqual(await textsIn(bench.other, other), ['stays', 're: stays'], 'delete() forgets one session alone')
    await add(bench, chat, turnOf('new'))
    checkEqual((await bench.other.load(chat))?.version, 1, 'A deleted session starts at 0 again')
    checkEqual(await textsIn(bench.other, chat), ['new', 're: new'], 'A deleted session does not come back')
  },
}
