import type { StoredTurn } from '@allium/core'
import type { SessionStore } from '@allium/store'
import { check, checkEqual, checkRejects, checkResolves } from '../check.ts'
import { acquireLease, add, chat, isHeld, runningTurn, type StoreCases, textsIn, turnOf } from './bench.ts'

/** Cases: a run is appended once. */
export const repeatCases: StoreCases = {
  async 'takes a run once, however often it is appended'({ store, other, lease: ms }) {
    const lease = await acquireLease(store, chat, ms * 100)
    const again = (one: SessionStore, version = 0) =>
      checkResolves(one.append(lease, version, turnOf('one')), 'append() takes the same run again')
    await Promise.all([store, other, store, other].map((one) => again(one)))
    for (const version of [0, 1]) await again(other, version)
    checkEqual((await other.load(chat))?.version, 1, 'The same run again raises no version')
    await store.append(lease, 1, turnOf('two', 2))
    await again(store)
    checkEqual(await textsIn(other, chat), ['one', 're: one', 'two', 're: two'], 'and changes no history')
  },

  async 'accepts an appended run again without effect, even from a process that lost the session'(bench) {
    const { store, other, lease: ms, wait } = bench
    const stale = await acquireLease(store, chat, ms)
    const again = () =>
      checkResolves(
        store.append(stale, 0, turnOf('one'), { release: true }),
        'append() accepts the same run again, whichever process holds the session',
      )
    await store.append(stale, 0, turnOf('one'))
    await wait(ms * 2)
    await again()
    const fresh = await acquireLease(other, chat, ms * 100)
    await other.checkpoint(fresh, 1, runningTurn('two', 2))
    await again()
    check(await isHeld(store, chat, ms), 'append() with a lease that was lost gives nothing back')
    checkEqual((await store.load(chat))?.open, runningTurn('two', 2), 'and leaves the active run')
    await other.append(fresh, 1, turnOf('two', 2), { release: true })
    await again()
    checkEqual((await store.load(chat))?.version, 2, 'The same run again raises no version')
    checkEqual(await textsIn(store, chat), ['one', 're: one', 'two', 're: two'], 'and changes no history')
  },

  async 'refuses another run under the id of one that was appended'(bench) {
    const { store, other, lease: ms } = bench
    const first = turnOf('one')
    await add(bench, chat, first)
    const lease = await acquireLease(store, chat, ms * 100)
    const others: Partial<StoredTurn>[] = [
      { messages: turnOf('two').messages },
      { rest: { state: { said: 'two' } } },
      { usage: { ...first.usage, calls: 1 } },
      { status: 'aborted', reason: 'stop' },
      { answer: 'two' },
      { records: [{ id: 'r', topic: 'sale', data: 1, at: 1 }] },
      { from: 2 },
    ]
    for (const change of others) {
      const what = `append() of another ${Object.keys(change)[0]} under a known id`
      await checkRejects(store.append(lease, 1, { ...first, ...change }), 'store.conflict', what)
    }
    await store.release(lease)
    const late = store.append(lease, 1, { ...first, answer: 'two' })
    await checkRejects(late, 'store.fenced', 'append() of another run under a known id, with a lease that was lost')
    checkEqual(await other.find(chat, { turnId: first.turnId }), first, 'The first one stays')
    checkEqual((await other.load(chat))?.version, 1, 'and counts once')
  },

  async 'refuses a run that begins beyond the end of the history'({ store, other, lease: ms }) {
    const lease = await acquireLease(store, chat, ms * 100)
    await checkRejects(store.append(lease, 0, turnOf('gap', 1)), 'store.conflict', 'append() from message 1 of none')
    await store.append(lease, 0, turnOf('one'))
    await checkRejects(store.append(lease, 1, turnOf('gap', 3)), 'store.conflict', 'append() from message 3 of 2')
    checkEqual(await textsIn(other, chat), ['one', 're: one'], 'A rejected run stores nothing')
    await store.append(lease, 1, turnOf('two', 2))
  },

  async 'releases the session with a run, on request'({ store, other, lease: ms }) {
    const first = await acquireLease(store, chat, ms * 100)
    await store.append(first, 0, turnOf('one'))
    check(await isHeld(other, chat, ms), 'append() alone keeps the lease')
    await store.append(first, 0, turnOf('one'), { release: true })
    const second = await acquireLease(other, chat, ms * 100)
    await other.append(second, 1, turnOf('two', 2), { release: true })
    checkEqual(await other.renew(second, ms), false, 'renew() of a released lease returns false')
    await acquireLease(store, chat, ms)
  },
}
