import { check, checkEqual, checkRejects } from '../check.ts'
import { chat, isHeld, turnOf } from '../store/bench.ts'
import { claim, namesOf, type RunCases, runOf, startRun, statusOf } from './run-bench.ts'

const named = (sessionId: string) => ({ ...chat, sessionId })

/** Cases: which process runs a run, and until when. */
export const claimCases: RunCases = {
  async 'holds the session of a claimed run, even after its lease expired'(bench) {
    const { other, lease: ms, wait } = bench
    const { lease, run } = await startRun(bench, runOf('one', chat))
    checkEqual([run.status, run.attempts, lease.version], ['running', 1, 0], 'A claimed run runs for the first time')
    check(await isHeld(other.sessions, chat, ms), 'Its session is locked')
    await wait(ms * 2)
    check(await isHeld(other.sessions, chat, ms), 'and belongs to it until another process takes it over')
  },

  async 'queues runs that wait for their session or their start time'(bench) {
    const { runs, other, lease: ms, wait } = bench
    const { lease } = await startRun(bench, runOf('one', chat))
    const second = await runs.add(runOf('two', chat), { claim: ms })
    checkEqual([second.lease, second.run.status], [undefined, 'queued'], 'A session has one run at a time')
    const runAt = second.run.runAt + ms * 3
    const later = await runs.add(runOf('later', named('later'), { runAt }), { claim: ms })
    checkEqual(
      [later.lease, later.run.status, later.run.runAt],
      [undefined, 'queued', runAt],
      'It is not run before its time',
    )
    check(!(await isHeld(other.sessions, named('later'), 1)), 'A run that waits for its time holds no session')
    checkEqual(namesOf(await claim(bench, other.runs)), [], 'No run can be claimed now')
    await bench.sessions.append(lease, 0, turnOf('a', 0), { release: true })
    await wait(ms * 4)
    checkEqual(namesOf(await claim(bench, other.runs)), ['one', 'later'], 'The session still belongs to its first run')
  },

  async 'gives a run to one of many who claim at once'(bench) {
    const { runs, other } = bench
    const names = Array.from({ length: 8 }, (_, i) => `run-${i}`)
    for (const name of names) await runs.add(runOf(name, named(name)))
    const claims = Array.from({ length: 6 }, (_, i) => claim(bench, i % 2 === 0 ? runs : other.runs, { limit: 3 }))
    const taken = (await Promise.all(claims)).flatMap(namesOf)
    const rest = namesOf(await claim(bench, runs))
    checkEqual([...taken, ...rest].toSorted(), names, 'Each run is claimed once')
  },

  async 'takes a run of a lost process over, with its steps, and lets that write nothing more'(bench) {
    const { runs, sessions, other, lease: ms, wait } = bench
    const { lease: stale } = await startRun(bench, runOf('one', chat))
    await runs.record(stale, 'one', { id: 'one:start', body: '{"a":1}' })
    checkEqual(namesOf(await claim(bench, other.runs)), [], 'A run of another worker is not claimed')
    await wait(ms * 2)
    const [taken] = await claim(bench, other.runs)
    check(taken !== undefined && taken.lease.token > stale.token, 'A lost run is claimed with a higher token')
    checkEqual(taken.run.task, { input: 'one' }, 'with its task')
    checkEqual(await other.runs.steps(taken.lease, 'one'), [{ id: 'one:start', body: '{"a":1}' }], 'and its steps')
    await checkRejects(runs.record(stale, 'one', { id: 'x', body: '' }), 'store.fenced', 'record() of a lost process')
    await checkRejects(sessions.append(stale, 0, turnOf('late')), 'store.fenced', 'append() of a lost process')
    const why = { status: 'failed', code: 'run.failed', reason: 'late' } as const
    await checkRejects(runs.giveUp(stale, 'one', why), 'store.fenced', 'giveUp() of a lost process')
    checkEqual(await runs.renew([stale, taken.lease], ms), [false, true], 'renew() reports the current holder')
  },

  async 'counts no attempt for a claim that its process released'(bench) {
    const { runs, other } = bench
    let { lease } = await startRun(bench, runOf('one', chat))
    for (let i = 0; i < 3; i++) {
      await Promise.all([runs.release(lease, 'one'), runs.release(lease, 'one')])
      const [claimed] = await claim(bench, other.runs)
      checkEqual(claimed?.run.attempts, 1, 'A released run is claimed for the first time again')
      const stale = lease
      lease = claimed?.lease ?? lease
      await runs.release(stale, 'one')
      checkEqual(await runs.renew([lease], 1000), [true], 'A lost lease releases nothing')
    }
  },

  async 'counts steps that a takeover records about itself as no progress'(bench) {
    const { runs, other, lease: ms, wait } = bench
    const { lease } = await startRun(bench, runOf('bad', chat))
    await runs.record(lease, 'bad', { id: 'bad:start', body: '' })
    const attempts: (number | undefined)[] = []
    for (let i = 0; i < 2; i++) {
      await wait(ms * 2)
      const [claimed] = await claim(bench, other.runs)
      attempts.push(claimed?.run.attempts)
      if (claimed !== undefined)
        await other.runs.record(claimed.lease, 'bad', { id: `bad:once:1::usage:takeover/begun:${i}`, body: '' })
    }
    checkEqual(attempts, [1, 2], 'An attempt counts where only a takeover was recorded')
  },

  async 'counts how often a run was begun without a new step, and begins it alone from the third time on'(bench) {
    const { runs, other, lease: ms, wait } = bench
    const { lease } = await startRun(bench, runOf('bad', chat))
    await runs.record(lease, 'bad', { id: 'bad:start', body: '' })
    const attempts: (number | undefined)[] = []
    for (let i = 0; i < 2; i++) {
      await wait(ms * 2)
      attempts.push((await claim(bench, other.runs))[0]?.run.attempts)
    }
    checkEqual(attempts, [1, 2], 'An attempt counts where no step was recorded')
    await runs.add(runOf('good', named('good')))
    await wait(ms * 2)
    checkEqual(
      namesOf(await claim(bench, other.runs, { alone: false })),
      ['good'],
      'A worker with other runs does not claim it',
    )
    await wait(ms * 2)
    const [bad, ...beside] = await claim(bench, other.runs)
    checkEqual(
      [bad?.run.run, bad?.run.attempts, namesOf(beside)],
      ['bad', 3, []],
      'A worker claims it alone, without other runs',
    )
  },

  async 'leaves runs of other agents and versions, until they are orphaned'(bench) {
    const { runs, other, lease: ms, wait } = bench
    await startRun(bench, runOf('older', chat, { version: '0' }))
    await runs.add(runOf('foreign', named('foreign'), { agent: 'another' }))
    const orphans = () =>
      other.runs.orphans({ agents: [{ name: 'agent', version: '1' }], ms: ms * 6, lease: ms, limit: 10 })
    await wait(ms * 2)
    checkEqual(
      [namesOf(await claim(bench, other.runs)), namesOf(await orphans())],
      [[], []],
      'Other processes may still come back',
    )
    await wait(ms * 8)
    checkEqual(namesOf(await orphans()), ['older'], 'The run of the older version is orphaned')
    checkEqual(
      await statusOf(bench, runOf('foreign', chat)),
      'queued',
      'Another agent does not count as an older version',
    )
  },
}
