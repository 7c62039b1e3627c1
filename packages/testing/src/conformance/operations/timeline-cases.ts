import { check, checkEqual } from '../check.ts'
import { claim, runOf, startRun } from '../runs/run-bench.ts'
import { suspendedTurn } from '../store/bench.ts'
import { finished, givenUp, named, type OperationsCases, withoutTimes } from './operations-bench.ts'

const all = { tenant: 'acme', limit: 100 }

/** Cases: the timeline of one run, its steps, and its end. */
export const timelineCases: OperationsCases = {
  async 'describes a run that has ended, with its steps and usage'(bench) {
    await finished(bench, 'one')
    // Ids of one tenant are not those of another.
    await finished(bench, 'one', { tenant: 'globex' })
    const described = await bench.other.operations.describe({ ...all, run: 'one' })
    checkEqual(
      withoutTimes(described?.timeline ?? []),
      [
        { type: 'added' },
        { type: 'claimed', attempt: 1 },
        { type: 'step', step: 'one:model:0' },
        { type: 'ended', status: 'completed' },
      ],
      'The timeline outlives the steps',
    )
    check((described?.usage?.calls ?? -1) >= 0, 'It has the usage of the turn')
    checkEqual([described?.run.status, described?.hasEarlier], ['completed', false], 'It is complete')
    checkEqual(await bench.other.operations.describe({ ...all, run: 'two' }), undefined, 'There is no such run')
    const theirs = { ...all, tenant: 'initech', run: 'one' }
    checkEqual(await bench.other.operations.describe(theirs), undefined, 'Another tenant has no such run')
  },

  async 'shows takeovers, retries, stops and failures in the order of their times'(bench) {
    const { runs, other, lease: ms, wait } = bench
    await startRun(bench, runOf('one', named('one')))
    await wait(ms * 2)
    const [second] = await claim(bench, other.runs)
    if (second === undefined) return check(false, 'The lost run is claimed')
    await other.runs.record(second.lease, 'one', { id: 'one:model:0', body: 'x' })
    await other.runs.record(second.lease, 'one', { id: 'one:model:0', body: 'again' })
    await other.runs.giveUp(second.lease, 'one', { status: 'failed', code: 'run.attempts', reason: 'no' })
    await runs.retry({ tenant: 'acme', run: 'one' })
    await runs.stop({ tenant: 'acme', run: 'one' }, 'stopped')
    await runs.stop({ tenant: 'acme', run: 'one' }, 'stopped again')
    const timeline = (await other.operations.describe({ ...all, run: 'one' }))?.timeline ?? []
    checkEqual(
      withoutTimes(timeline),
      [
        { type: 'added' },
        { type: 'claimed', attempt: 1 },
        { type: 'claimed', attempt: 2 },
        { type: 'step', step: 'one:model:0' },
        { type: 'ended', status: 'failed', code: 'run.attempts' },
        { type: 'retried' },
        { type: 'stop' },
      ],
      'Each entry once',
    )
    const times = timeline.map(({ at }) => at)
    checkEqual(
      times,
      times.toSorted((a, b) => a - b),
      'Times increase',
    )
    check((timeline[2]?.at ?? 0) - (timeline[1]?.at ?? 0) >= ms, 'The takeover came after the lease')
    check(Math.abs((await other.operations.now()) - (times.at(-1) ?? 0)) < 60_000, 'now() is the clock of the times')
  },

  async 'returns the latest entries of a long timeline'(bench) {
    const { lease } = await startRun(bench, runOf('one', named('one')))
    for (let i = 0; i < 4; i++) await bench.runs.record(lease, 'one', { id: `one:model:${i}`, body: i })
    const described = await bench.other.operations.describe({ tenant: 'acme', run: 'one', limit: 2 })
    checkEqual(
      [described?.hasEarlier, withoutTimes(described?.timeline ?? [])],
      [
        true,
        [
          { type: 'step', step: 'one:model:2' },
          { type: 'step', step: 'one:model:3' },
        ],
      ],
      'describe()',
    )
  },

  async 'lists the calls that a suspended run waits for'(bench) {
    const { lease } = await startRun(bench, runOf('turn-one', named('one')))
    const calls = { c1: { token: 't1', expiresAt: 9_999_999_999_999 }, c2: { token: 't2' } }
    await bench.sessions.append(lease, 0, suspendedTurn('one', calls), { release: true })
    const described = await bench.other.operations.describe({ ...all, run: 'turn-one' })
    checkEqual(
      described?.pending.map(({ callId, expiresAt }) => [callId, expiresAt]),
      [
        ['c1', 9_999_999_999_999],
        ['c2', undefined],
      ],
      'pending',
    )
    checkEqual(JSON.stringify(described).includes('t1'), false, 'No token is shown')
  },

  async 'returns the recorded steps of a run that can continue, in their order'(bench) {
    const { runs, other } = bench
    await startRun(bench, runOf('one', named('one', 'globex'))).then((started) =>
      runs.record(started.lease, 'one', { id: 'theirs', body: 'secret' }),
    )
    const { lease } = await startRun(bench, runOf('one', named('one')))
    const steps = ['z', 'a', 'm'].map((id) => ({ id: `one:${id}`, body: { of: id } }))
    for (const step of steps) await runs.record(lease, 'one', step)
    checkEqual(await other.operations.steps({ tenant: 'acme', run: 'one' }), steps, 'of a running run')
    await givenUp(bench, 'two')
    checkEqual((await other.operations.steps({ tenant: 'acme', run: 'two' })).length, 1, 'of a failed run')
    await finished(bench, 'three')
    checkEqual(await other.operations.steps({ tenant: 'acme', run: 'three' }), [], 'A completed run has none')
    checkEqual(await other.operations.steps({ tenant: 'initech', run: 'one' }), [], 'nor has another tenant')
  },

  async 'forgets the timeline with the run'(bench) {
    const { sessions, runs, other, lease: ms, wait } = bench
    await finished(bench, 'one')
    await finished(bench, 'two')
    await sessions.delete(named('one'))
    checkEqual(await other.operations.describe({ ...all, run: 'one' }), undefined, 'A deleted session')
    await wait(ms * 3)
    checkEqual(await runs.expire({ olderThan: { failed: ms } }), {}, 'Retention is per status')
    checkEqual(await runs.expire({ olderThan: { failed: ms, completed: ms } }), { completed: 1 }, 'One is old')
    await runs.add(runOf('two', named('two')))
    const described = await other.operations.describe({ ...all, run: 'two' })
    checkEqual(withoutTimes(described?.timeline ?? []), [{ type: 'added' }], 'A later run with the id is another one')
  },
}
