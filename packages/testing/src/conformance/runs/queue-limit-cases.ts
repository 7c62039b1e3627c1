import { checkEqual } from '../check.ts'
import { chat } from '../store/bench.ts'
import { addAll, claimAny, claimFrom, end, numbered, queue } from './queue-bench.ts'
import { claim, namesOf, type RunCases, runOf } from './run-bench.ts'

/** Cases: how many runs of a queue and of a tenant run at once. */
export const queueLimitCases: RunCases = {
  async 'runs at most `concurrency` runs of a queue, over all processes'(bench) {
    const { runs, other } = bench
    const limits = { concurrency: 3 }
    await addAll(bench, numbered('r', 8))
    const stores = [runs, other.runs, runs, other.runs]
    const all = (await Promise.all(stores.map((store) => claimFrom(bench, store, limits, 2)))).flat()
    checkEqual(all.length, 3, 'Concurrent claims share the places')
    checkEqual(namesOf(await claimFrom(bench, other.runs, limits)), [], 'No slot is free')
    await end(bench, all[0])
    checkEqual((await claimFrom(bench, other.runs, limits)).length, 1, 'The place of an ended run is free at once')
    await runs.giveUp(all[1]?.lease as never, all[1]?.run.run ?? '', { status: 'failed', code: 'x', reason: 'y' })
    checkEqual((await claimFrom(bench, other.runs, limits)).length, 1, 'as is that of a run that was given up')
    checkEqual((await claimFrom(bench, other.runs, { concurrency: 5 })).length, 2, 'A claim obeys its own limit')
  },

  async 'starts new runs at once only within the limits of their queue, over all processes'(bench) {
    const { runs, other, lease: ms } = bench
    const limits = { concurrency: 4, perTenant: 3 }
    const add = (run: string, i: number, tenant = 'acme') =>
      (i % 2 === 0 ? runs : other.runs).add(runOf(run, { ...chat, tenant, sessionId: run }, { queue }), {
        claim: ms,
        limits,
      })
    const all = await Promise.all(numbered('r', 8).map((run, i) => add(run, i)))
    checkEqual(all.filter(({ lease }) => lease !== undefined).length, 3, 'As many start as one tenant may run')
    const more = await add('b1', 0, 'globex')
    checkEqual(more.lease, undefined, 'A new run does not overtake waiting runs of its queue')
    const claimed = await claimFrom(bench, other.runs, limits)
    checkEqual(namesOf(claimed), ['b1'], 'It is claimed when none of the others may start')
    const last = await add('b2', 1, 'globex')
    checkEqual(last.lease, undefined, 'The queue is full')
  },

  async 'keeps the place of a lost run until another process takes it over'(bench) {
    const { runs, other, lease: ms, wait } = bench
    const limits = { concurrency: 1 }
    await addAll(bench, ['one', 'two'])
    checkEqual(namesOf(await claimFrom(bench, runs, limits, 1, ms)), ['one'], 'One run has the only place')
    await wait(ms * 2)
    checkEqual(namesOf(await claimFrom(bench, other.runs, limits)), [], 'A lost run does not count as a waiting run')
    const [taken] = await claimAny(bench, other.runs, limits)
    checkEqual([taken?.run.run, taken?.run.attempts], ['one', 2], 'It is taken over although the queue is full')
    await end(bench, taken)
    checkEqual(namesOf(await claimFrom(bench, other.runs, limits)), ['two'], 'Then the next run starts')
  },

  async 'runs at most `perTenant` runs of a tenant, and fills the places with those of others'(bench) {
    const limits = { perTenant: 2 }
    await addAll(bench, numbered('a', 5))
    await addAll(bench, numbered('b', 3), 'globex')
    const first = await claimFrom(bench, bench.runs, limits)
    checkEqual(namesOf(first).toSorted(), ['a1', 'a2', 'b1', 'b2'], 'Two of each tenant start')
    await end(bench, ...first.filter(({ run }) => run.run === 'b1'))
    checkEqual(namesOf(await claimFrom(bench, bench.other.runs, limits)), ['b3'], 'The place belongs to its tenant')
  },

  async 'claims no more runs than a process has places for in a queue'(bench) {
    await addAll(bench, numbered('r', 4))
    await bench.runs.add(runOf('plain', { ...chat, sessionId: 'plain' }))
    const queues = [{ name: queue, places: 2 }, { name: 'default' }]
    const claimed = await claim(bench, bench.runs, { queues })
    checkEqual(namesOf(claimed).toSorted(), ['plain', 'r1', 'r2'], 'The places of one queue do not limit another')
    checkEqual(namesOf(await claimFrom(bench, bench.other.runs, { places: 0 })), [], 'Without slots no run starts')
  },
}
