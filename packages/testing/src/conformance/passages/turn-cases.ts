import type { PassageTurn } from '@allium/store'
import { withPassages } from '@allium/store/passages'
import { checkEqual, checkRejects } from '../check.ts'
import { chat, turnOf } from '../store/bench.ts'
import { find, hold, type PassageCases, say, scopeOf, textsAt, turnWith } from './passage-bench.ts'

/** Cases: passages are written with their turn. */
export const turnCases: PassageCases = {
  async 'replaces the passages from the first message of a turn on, also by a turn without any'(bench) {
    await say(bench, chat, 'tea', 'milk', ['coffee', { from: 2 }])
    checkEqual(await find(bench.other, chat, 'milk'), [], 'The replaced messages are not found')
    checkEqual(await textsAt(bench, chat, 0, 1, 2, 3, 4), ['tea', 're: tea', 'coffee', 're: coffee'], 'read()')
    const lease = await hold(bench)
    const rewound: PassageTurn = { ...turnOf('gone', 1), status: 'rewound', messages: [] }
    await bench.sessions.append(lease, lease.version, rewound)
    checkEqual(await find(bench.other, chat, 'coffee', 'tea'), ['chat/0/0:tea*1 of 1'], 'after a rewind')
    checkEqual((await bench.passages.count(scopeOf(chat))).passages, 1, 'count() after a rewind')
  },

  async 'stores no passage of a turn that it rejects, and keeps those before'(bench) {
    await say(bench, chat, 'tea')
    const lost = await hold(bench)
    const late = await turnWith(bench, lost, 'late', { from: 0 })
    await bench.sessions.release(lost)
    const lease = await hold({ ...bench, ...bench.other })
    await checkRejects(bench.sessions.append(lost, 1, late), 'store.fenced', 'append() under a lost lease')
    const beyond = await turnWith(bench, lease, 'beyond', { from: 9 })
    for (const [version, turn] of [
      [0, late],
      [7, late],
      [1, beyond],
      [1, { ...late, turnId: 'turn 0: tea' }],
    ] as const)
      await checkRejects(bench.sessions.append(lease, version, turn), 'store.conflict', 'append() of such a turn')
    checkEqual(await find(bench, chat, 'late', 'beyond'), [], 'Nothing of them is found')
    checkEqual((await find(bench.other, chat, 'tea')).length, 2, 'and all of the turn before')
  },

  async 'adds the passages of a run once, if it is appended again, with them or without'(bench) {
    const lease = await hold(bench)
    const turn = await turnWith(bench, lease, 'tea')
    const { passages: _, ...bare } = turn
    for (const again of [turn, turn, bare]) await bench.sessions.append(lease, 0, again)
    await bench.other.sessions.append(lease, 0, { ...bare, passages: [] })
    const expected = ['chat/1/1:tea*1 of 2', 'chat/0/0:tea*1 of 1']
    checkEqual(await find(bench.other, chat, 'tea'), expected, 'postings() after four times')
  },

  async 'does not keep passages in the turn'(bench) {
    await say(bench, chat, 'tea')
    const found = await bench.other.sessions.find(chat, { version: 1 })
    checkEqual(found, { ...turnOf('tea'), turnId: 'turn 0: tea', rootId: 'turn-tea' }, 'find() of the turn')
  },

  async 'stores no passages of messages that the first turn of a session copied'(bench) {
    const fork = { ...chat, sessionId: 'fork' }
    await say(bench, chat, 'tea')
    const copies = ['tea', 're: tea', 'more tea', 're: more tea'].map((content, i) => ({
      role: i % 2 === 0 ? ('user' as const) : ('assistant' as const),
      content,
    }))
    await say(bench, fork, ['more tea', { messages: copies, copied: 2 }])
    const own = ['fork/1/3:tea*1 of 3', 'fork/0/2:tea*1 of 2']
    const all = [...own, 'chat/1/1:tea*1 of 2', 'chat/0/0:tea*1 of 1']
    checkEqual(await find(bench.other, chat, 'tea'), all, 'postings() of a session and its fork')
    const changed = [copies[2], copies[3]].flatMap((message) => message ?? [])
    await say(bench, fork, ['changed', { from: 2, messages: changed, copied: 2 }])
    checkEqual(await find(bench.other, chat, 'tea'), all, 'A later turn has all of its passages')
  },

  async 'takes turns without passages as before'(bench) {
    const lease = await hold(bench)
    await bench.sessions.append(lease, 0, withPassages(turnOf('tea'), { passages: [], copied: 0 }))
    await bench.sessions.append(lease, 1, turnOf('milk', 2), { release: true })
    checkEqual((await bench.other.passages.count(scopeOf(chat))).passages, 0, 'No passage is stored')
    checkEqual((await bench.other.sessions.load(chat))?.history.length, 4, 'and all messages')
  },
}
