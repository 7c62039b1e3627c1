import { check, checkEqual, checkRejects } from '../check.ts'
import { chat } from '../store/bench.ts'
import { addAll, addWaiting, claimAny, claimFrom, end, longLease, queue } from './queue-bench.ts'
import { claim, namesOf, type RunCases, runOf, startRun } from './run-bench.ts'

/** Cases: from which queue a run is claimed, and what happens to runs that cannot start. */
export const queueCases: RunCases = {
  async 'keeps the queue and the priority of a run, and claims only from the given queues'(bench) {
    const { runs, other } = bench
    const { run } = await addWaiting(bench, 'one', { priority: -5 })
    checkEqual([run.queue, run.priority], [queue, -5], 'add() returns them')
    const plain = await runs.add(runOf('plain', { ...chat, sessionId: 'plain' }))
    checkEqual([plain.run.queue, plain.run.priority], ['default', 0], 'The defaults')
    checkEqual(namesOf(await claim(bench, other.runs)), ['plain'], 'Without queues, claim() takes the default queue')
    const [claimed] = await claimFrom(bench, other.runs)
    checkEqual(
      [claimed?.run.run, claimed?.run.queue, claimed?.run.priority],
      ['one', queue, -5],
      'claim() returns them',
    )
    for (const priority of [0.5, 1001, Number.NaN])
      await checkRejects(addWaiting(bench, `at ${priority}`, { priority }), 'run.options', `The priority ${priority}`)
  },

  async 'skips runs whose session is in use, and starts them when it is free'(bench) {
    const { runs, other, lease: ms } = bench
    const busy = await startRun({ ...bench, lease: longLease }, runOf('busy', chat, { queue }))
    for (const run of ['behind 1', 'behind 2']) await runs.add(runOf(run, chat, { queue, priority: -9 }), { claim: ms })
    await addWaiting(bench, 'free')
    checkEqual(namesOf(await claimFrom(bench, other.runs)), ['free'], 'Another session starts')
    await end(bench, { run: busy.run, lease: busy.lease })
    checkEqual(namesOf(await claimFrom(bench, other.runs)), ['behind 1'], 'One run of a session at a time')
  },

  async 'claims a stopped run at once, although its queue is full'(bench) {
    const { runs, other } = bench
    const limits = { concurrency: 1 }
    await addAll(bench, ['one', 'two', 'three'])
    await claimFrom(bench, runs, limits)
    await other.runs.stop({ tenant: 'acme', run: 'three' }, 'enough')
    const [stopped] = await claimAny(bench, other.runs, limits)
    checkEqual(
      [stopped?.run.run, stopped?.run.stop, stopped?.run.attempts],
      ['three', 'enough', 1],
      'It only has to end',
    )
  },

  async 'retries a run through its queue'(bench) {
    const { runs, other } = bench
    const limits = { concurrency: 1 }
    await addAll(bench, ['one', 'two'])
    const [one] = await claimFrom(bench, runs, limits)
    if (one === undefined) return check(false, 'The first run starts')
    await runs.giveUp(one.lease, 'one', { status: 'failed', code: 'x', reason: 'y' })
    await runs.markReported(one.lease, 'one')
    const [two] = await claimFrom(bench, runs, limits)
    await other.runs.retry({ tenant: 'acme', run: 'one' })
    checkEqual([two?.run.run, namesOf(await claimFrom(bench, other.runs, limits))], ['two', []], 'It waits for a place')
    await end(bench, two)
    checkEqual(namesOf(await claimFrom(bench, other.runs, limits)), ['one'], 'and starts then')
  },
}
