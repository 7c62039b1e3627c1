import type { Message, StoredTurn } from '@allium/core'
import type { Checkpoint } from '@allium/store'
import { check, checkEqual, checkRejects } from '../check.ts'
import { acquireLease, add, chat, runningTurn, type StoreCases, textsIn, turnOf } from './bench.ts'

/** Cases: a run is stored while it is open. */
export const checkpointCases: StoreCases = {
  async 'keeps a checkpoint apart from the history, without a new version'(bench) {
    const { store, other, lease: ms } = bench
    const lease = await acquireLease(store, chat, ms * 100)
    const first = runningTurn('one')
    await store.checkpoint(lease, 0, first)
    const begun = { version: 0, owner: chat.owner, history: [], rest: { state: {} }, open: first }
    checkEqual(await other.load(chat), begun, 'The first run of a session is open, and not part of its history')
    await store.append(lease, 0, turnOf('one'))
    const { messages: history, rest } = turnOf('one')
    const second = runningTurn('two', 1)
    await store.checkpoint(lease, 1, second)
    checkEqual(
      await other.load(chat),
      { version: 1, owner: chat.owner, history, rest, open: second },
      'The checkpoint of a later run replaces no appended turn',
    )
  },

  async 'keeps the last checkpoint alone'({ store, other, lease: ms }) {
    const lease = await acquireLease(store, chat, ms * 100)
    await store.checkpoint(lease, 0, runningTurn('one'))
    const later = runningTurn('one', 0, { messages: turnOf('more').messages, rest: { state: { step: 2 } } })
    await store.checkpoint(lease, 0, later)
    checkEqual((await other.load(chat))?.open, later, 'A checkpoint replaces the one before')
    await store.checkpoint(lease, 0, runningTurn('two'))
    checkEqual((await other.load(chat))?.open, runningTurn('two'), 'also that of another run')
    checkEqual(await other.find(chat, { turnId: 'turn-one' }), undefined, 'which is not found any more')
  },

  async 'tells who takes a session that a run was left open in it'({ store, other, lease: ms, wait }) {
    const first = await acquireLease(store, chat, ms)
    check(first.open === undefined, 'A new session has no open run')
    await store.checkpoint(first, 0, runningTurn('one'))
    await wait(ms * 2)
    const second = await acquireLease(other, chat, ms * 100)
    checkEqual([second.open, second.version], [true, 0], 'The lease of a session with an open run says so')
    await other.append(second, 0, turnOf('one'), { release: true })
    check((await acquireLease(store, chat, ms)).open === undefined, 'A run that was appended is no longer open')
  },

  async 'forgets a checkpoint when its run is appended, or another one'({ store, other, lease: ms }) {
    const lease = await acquireLease(store, chat, ms * 100)
    await store.checkpoint(lease, 0, runningTurn('one'))
    await store.append(lease, 0, turnOf('one'))
    checkEqual((await other.load(chat))?.open, undefined, 'A run that was appended is no longer open')
    await store.checkpoint(lease, 1, runningTurn('lost', 2))
    await store.append(lease, 1, turnOf('two', 2))
    checkEqual((await other.load(chat))?.open, undefined, 'A checkpoint of an older run is not stored')
    checkEqual(
      await textsIn(other, chat),
      ['one', 're: one', 'two', 're: two'],
      'The history has the appended messages',
    )
  },

  async 'rejects the checkpoint of a process that lost the session'({ store, other, lease: ms, wait }) {
    const stale = await acquireLease(store, chat, ms)
    const late = () => store.checkpoint(stale, 0, runningTurn('late'))
    await wait(ms * 2)
    await checkRejects(late(), 'store.fenced', 'checkpoint() after the lease ran out')
    const fresh = await acquireLease(other, chat, ms * 100)
    await checkRejects(late(), 'store.fenced', 'checkpoint() with a lease that was lost')
    await other.checkpoint(fresh, 0, runningTurn('fresh'))
    await checkRejects(late(), 'store.fenced', 'checkpoint() with a lease that was lost')
    await other.release(fresh)
    const released = other.checkpoint(fresh, 0, runningTurn('late'))
    await checkRejects(released, 'store.fenced', 'checkpoint() after release()')
    checkEqual((await store.load(chat))?.open, runningTurn('fresh'), 'A late writer changes nothing')
  },

  async 'refuses a checkpoint for another version, beyond the end, or of a run that has ended'(bench) {
    const { store, other, lease: ms } = bench
    await add(bench, chat, turnOf('one'))
    const lease = await acquireLease(store, chat, ms * 100)
    const refused = (version: number, turn = runningTurn('two', 2), what = `for version ${version}`) =>
      checkRejects(store.checkpoint(lease, version, turn), 'store.conflict', `checkpoint() ${what} of 1`)
    await refused(0)
    await refused(2)
    await refused(1, runningTurn('two', 3), 'from message 3 of 2, in version 1')
    await refused(1, runningTurn('one', 2), 'of a run that was appended, in version 1')
    checkEqual((await other.load(chat))?.open, undefined, 'A rejected checkpoint stores nothing')
    checkEqual(await textsIn(other, chat), ['one', 're: one'], 'and takes nothing away')
    await store.checkpoint(lease, 1, runningTurn('two', 2))
    checkEqual((await other.load(chat))?.open, runningTurn('two', 2), 'Then the correct one is accepted')
  },

  async 'adds what is new to a checkpoint, and replaces what changed'({ store, other, lease: ms }) {
    const lease = await acquireLease(store, chat, ms * 100)
    const steps = stepsOf('one')
    for (const [part, whole] of steps) {
      for (const _ of ['once', 'again']) await store.checkpoint(lease, 0, part)
      checkEqual((await other.load(chat))?.open, whole, 'load() returns the whole run after each checkpoint')
    }
    const [, whole] = steps.at(-1) as Steps[number]
    checkEqual(await other.find(chat, { turnId: whole.turnId }), whole, 'find() returns it, too')
    const [page] = await other.history(chat, { before: 0, limit: 1 })
    checkEqual(page?.messages, whole.messages, 'and history() its messages')
    await store.checkpoint(lease, 0, runningTurn('one'))
    checkEqual((await other.load(chat))?.open, runningTurn('one'), 'A checkpoint without `after` replaces all of them')
    await store.append(lease, 0, turnOf('one'))
    checkEqual((await other.load(chat))?.open, undefined, 'Nothing is left of them when the run has ended')
    await store.checkpoint(lease, 1, runningTurn('two'))
    checkEqual((await other.load(chat))?.open, runningTurn('two'), 'and nothing gets into the next run')
  },

  async 'keeps what a lost process added, for the process that takes the session'({ store, other, lease: ms, wait }) {
    const lost = await acquireLease(store, chat, ms)
    const steps = stepsOf('one')
    for (const [part] of steps.slice(0, 2)) await store.checkpoint(lost, 0, part)
    await wait(ms * 2)
    const lease = await acquireLease(other, chat, ms * 100)
    const [part, whole] = steps[2] as Steps[number]
    await checkRejects(store.checkpoint(lost, 0, part), 'store.fenced', 'checkpoint() with a lease that was lost')
    checkEqual((await other.load(chat))?.open, steps[1]?.[1], 'The other process has the last checkpoint')
    await other.checkpoint(lease, 0, part)
    checkEqual((await other.load(chat))?.open, whole, 'and may continue it')
  },

  async 'refuses a checkpoint that continues another one than the last'({ store, other, lease: ms }) {
    const lease = await acquireLease(store, chat, ms * 100)
    const refused = (turn: Checkpoint, what: string) =>
      checkRejects(store.checkpoint(lease, 0, turn), 'store.conflict', `checkpoint() that continues ${what}`)
    const [[first], [second]] = stepsOf('one') as [Steps[number], Steps[number]]
    await refused(second, 'no checkpoint')
    checkEqual(await other.load(chat), undefined, 'A rejected checkpoint stores nothing')
    await store.checkpoint(lease, 0, first)
    await refused({ ...second, turnId: 'turn-two', rootId: 'turn-two' }, 'one of another run')
    await refused({ ...second, after: { messages: 3, calls: 0, records: 0 } }, 'one with more messages')
    const { after: _, ...whole } = first
    checkEqual((await other.load(chat))?.open, whole, 'A rejected checkpoint changes nothing')
  },
}

type Steps = [part: Checkpoint, whole: StoredTurn][]

/** Returns the checkpoints of a run, and the run after each: a call, a changed answer, and an answer that replaces the one before. */
function stepsOf(text: string): Steps {
  const open = runningTurn(text, 0, { calls: [] })
  const [question, answer] = open.messages as [Message, Message]
  const changed: Message = { role: 'assistant', content: 'changed' }
  const call = (callId: string) => ({ callId, name: 'look', args: { at: callId }, status: 'ok' }) as const
  const record = { id: 'r1', topic: 'sale', data: 1, at: 5 }
  const part = (after: Checkpoint['after'], added: Partial<StoredTurn>, whole: Partial<StoredTurn>): Steps[number] => {
    const rest = { state: { step: whole.calls?.length } }
    return [
      { ...open, ...added, rest, ...(after && { after }) },
      { ...open, ...whole, rest },
    ]
  }
  const all = { messages: [question, answer, question], calls: [call('c1')], records: [record] }
  return [
    part({ messages: 0, calls: 0, records: 0 }, {}, { calls: [] }),
    part({ messages: 2, calls: 0, records: 0 }, { ...all, messages: [question] }, all),
    part(
      { messages: 1, calls: 1, records: 1 },
      { messages: [changed], calls: [call('c2')], records: [] },
      { messages: [question, changed], calls: [call('c1'), call('c2')], records: [record] },
    ),
    part(
      { messages: 2, calls: 2, records: 1 },
      { messages: [answer], calls: [], records: [] },
      { messages: [question, changed, answer], calls: [call('c1'), call('c2')], records: [record] },
    ),
  ]
}
