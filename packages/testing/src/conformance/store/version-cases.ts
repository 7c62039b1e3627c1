import { isAlliumError } from '@allium/core'
import { check, checkEqual, checkRejects, Nonconformance } from '../check.ts'
import { show } from '../difference.ts'
import { acquireLease, add, chat, type StoreCases, textsIn, turnOf } from './bench.ts'

/** Cases: updates are never lost. */
export const versionCases: StoreCases = {
  async 'counts the turns, and tells the number with a session and with a lease'(bench) {
    checkEqual(
      (await acquireLease(bench.store, { ...chat, sessionId: 'new' }, bench.lease)).version,
      0,
      'A new session has 0',
    )
    await add(bench, chat, turnOf('one'), turnOf('two', 2))
    checkEqual((await bench.other.load(chat))?.version, 2, 'load() tells the number of turns')
    checkEqual((await acquireLease(bench.other, chat, bench.lease)).version, 2, 'acquire() tells the number of turns')
  },

  async 'refuses a turn for another version, older or newer, and stores nothing of it'({ store, other, lease: ms }) {
    const lease = await acquireLease(store, chat, ms * 100)
    await store.append(lease, 0, turnOf('one'))
    await checkRejects(store.append(lease, 0, turnOf('again', 2)), 'store.conflict', 'append() for an older version')
    await checkRejects(store.append(lease, 2, turnOf('ahead', 2)), 'store.conflict', 'append() for a version to come')
    checkEqual(await textsIn(other, chat), ['one', 're: one'], 'A rejected turn stores nothing')
    await store.append(lease, 1, turnOf('two', 2))
    checkEqual((await other.load(chat))?.version, 2, 'After a conflict the correct version is accepted')
  },

  async 'lets exactly one of two turns for one version win, however they race'({ store, other, lease: ms }) {
    const lease = await acquireLease(store, chat, ms * 100)
    for (let version = 0; version < 10; version++) {
      const names = ['left', 'right'].map((side) => `${side}-${version}`)
      const ends = await Promise.allSettled(
        names.map((name, i) => (i === 0 ? store : other).append(lease, version, turnOf(name, version * 2))),
      )
      const won = names.filter((_, i) => ends[i]?.status === 'fulfilled')
      checkEqual(won.length, 1, `One of two turns for version ${version} must be accepted, but ${won.length} were`)
      const lost = ends.find((end) => end.status === 'rejected')
      if (lost?.status === 'rejected' && !isAlliumError(lost.reason, 'store.conflict'))
        throw new Nonconformance(
          `The rejected turn should fail with "store.conflict", but rejected with ${show(lost.reason)}.`,
          { cause: lost.reason },
        )
      const history = await textsIn(other, chat)
      checkEqual(history.slice(version * 2), [won[0], `re: ${won[0]}`], 'The accepted turn is stored')
    }
  },

  async 'does not bring a session back that was deleted under a run'({ store, other, lease: ms }) {
    const lease = await acquireLease(store, chat, ms * 100)
    await store.append(lease, 0, turnOf('one'))
    await other.delete(chat)
    const late = await store.append(lease, 1, turnOf('two', 2)).then(
      () => 'stored',
      (error) => error,
    )
    check(
      isAlliumError(late, 'store.conflict') || isAlliumError(late, 'store.fenced'),
      `append() to a session that was deleted rejects with "store.conflict" or "store.fenced", but gave ${show(late)}`,
    )
    checkEqual(await other.load(chat), undefined, 'The session stays deleted')
  },
}
