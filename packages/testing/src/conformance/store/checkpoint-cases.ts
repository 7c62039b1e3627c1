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
}
