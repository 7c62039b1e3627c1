import type { RunStore } from '@allium/store'
import { checkEqual } from '../check.ts'
import { chat } from '../store/bench.ts'
import { addAll, claimFrom, end, numbered, queue } from './queue-bench.ts'
import { namesOf, type RunCases, runOf } from './run-bench.ts'

/** Cases: how many runs start within a period. */
export const queueRateCases: RunCases = {
  async 'starts at most `limit` runs within a period, whenever they end'(bench) {
    const { runs, other, lease: ms, wait } = bench
    const limits = { rateLimit: { limit: 3, period: ms * 8 } }
    await addAll(bench, numbered('r', 9))
    const stores = [runs, other.runs, runs, other.runs]
    const all = (await Promise.all(stores.map((store) => claimFrom(bench, store, limits, 2)))).flat()
    checkEqual(all.length, 3, 'Concurrent claims share the limit')
    await end(bench, ...all)
    await bench.sessions.delete({ ...chat, sessionId: all[0]?.run.run ?? '' })
    checkEqual(namesOf(await claimFrom(bench, other.runs, limits)), [], 'Ended and deleted runs count')
    await wait(ms * 9)
    const now = await runs.add(runOf('new', { ...chat, sessionId: 'new' }, { queue }), { claim: ms, limits })
    checkEqual(now.lease, undefined, 'A new run does not overtake waiting ones')
    checkEqual((await claimFrom(bench, other.runs, limits)).length, 3, 'Later the same number can start again')
  },

  async 'counts runs that start when they are added towards the rate limit'(bench) {
    const { runs, other, lease: ms } = bench
    const limits = { rateLimit: { limit: 2, period: 600_000 } }
    const add = (run: string, store: RunStore) =>
      store.add(runOf(run, { ...chat, sessionId: run }, { queue }), { claim: ms, limits })
    const all = [await add('r1', runs), await add('r2', other.runs), await add('r3', runs)]
    checkEqual(
      all.map(({ lease }) => lease !== undefined),
      [true, true, false],
      'Two start',
    )
    checkEqual(namesOf(await claimFrom(bench, other.runs, limits)), [], 'and no third one')
  },

  async 'starts at most `rateLimit.perTenant` runs of a tenant within a period'(bench) {
    const limits = { rateLimit: { limit: 5, period: 600_000, perTenant: 2 } }
    await addAll(bench, numbered('a', 4))
    await addAll(bench, numbered('b', 4), 'globex')
    await addAll(bench, numbered('c', 4), 'initech')
    const claimed = await claimFrom(bench, bench.runs, limits)
    const counts = ['a', 'b', 'c'].map((prefix) => namesOf(claimed).filter((name) => name.startsWith(prefix)).length)
    checkEqual(counts.toSorted(), [1, 2, 2], 'Five in total, two of a tenant')
  },
}
