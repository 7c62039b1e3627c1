import { check, checkEqual, checkRejects } from '../check.ts'
import { chat, isHeld, nowOf, suspendedTurn, turnOf } from '../store/bench.ts'
import { agents, claim, namesOf, type RunBench, type RunCases, runOf, startRun, statusOf } from './run-bench.ts'

const one = runOf('turn-one', chat)
const failed = { status: 'failed', code: 'run.attempts', reason: 'too often' } as const

/** Cases: ends of runs, and the data that remains. */
export const endCases: RunCases = {
  async 'ends with its turn: its steps are forgotten, and the session is free'(bench) {
    const { runs, sessions, other, lease: ms } = bench
    const { lease } = await startRun(bench, one)
    await runs.record(lease, one.run, { id: 'a', body: '1' })
    await sessions.append(lease, 0, turnOf('one'), { release: true })
    checkEqual(await other.runs.steps(lease, one.run), [], 'Its steps are deleted')
    const run = await other.runs.get({ tenant: 'acme', run: one.run })
    checkEqual([run?.status, run?.task], ['completed', undefined], 'It has ended, and cannot run again')
    check(!(await isHeld(other.sessions, chat, ms)), 'The session is free')
    checkEqual(await runs.stop({ tenant: 'acme', run: one.run }, 'late'), false, 'An ended run cannot be stopped')
  },

  async 'returns a run with an unreported end to the next worker, until it is reported'(bench) {
    const { sessions, other, lease: ms, wait } = bench
    const { lease } = await startRun(bench, one)
    await sessions.append(lease, 0, turnOf('one'), { release: true })
    checkEqual(namesOf(await claim(bench, other.runs)), [], 'Its process can still report the end')
    await wait(ms * 2)
    const [taken] = await claim(bench, other.runs)
    checkEqual([taken?.run.run, taken?.run.status], [one.run, 'completed'], 'Later another process reports the end')
    if (taken !== undefined) await other.runs.markReported(taken.lease, one.run)
    await wait(ms * 2)
    checkEqual(namesOf(await claim(bench, other.runs)), [], 'The end is reported once')
  },

  async 'takes the end of its events for the report of its end'(bench) {
    const { sessions, events, other, lease: ms, wait } = bench
    if (events === undefined) return
    for (const status of ['completed', 'failed'] as const) {
      const run = runOf(status, { ...chat, sessionId: status })
      const { lease } = await startRun(bench, run)
      const place = { key: run.key, turnId: run.run }
      await events.append(place, lease.token, [], { by: { tenant: 'acme', owner: chat.owner, since: 0, lease } })
      await sessions.append(lease, 0, { ...turnOf('x'), turnId: run.run, status }, { release: true })
      await events.append(place, lease.token, ['end'], { end: true })
    }
    await wait(ms * 2)
    checkEqual(namesOf(await claim(bench, other.runs)), [], 'No other process reports it')
  },

  async 'keeps the reason for stopping a run, for any worker'(bench) {
    const { runs, other, lease: ms, wait } = bench
    await startRun(bench, one)
    checkEqual(await other.runs.stop({ tenant: 'acme', run: one.run }, 'enough'), true, 'A run can be asked to stop')
    await other.runs.stop({ tenant: 'acme', run: one.run }, 'again')
    checkEqual(await runs.stop({ tenant: 'globex', run: one.run }, 'x'), false, 'Another tenant has no such run')
    await wait(ms * 2)
    checkEqual((await claim(bench, other.runs))[0]?.run.stop, 'enough', 'The first reason wins')
  },

  async 'gives a run up with its steps, and frees its session'(bench) {
    const { runs, sessions, other, lease: ms } = bench
    const { lease } = await startRun(bench, one)
    await runs.record(lease, one.run, { id: 'a', body: '1' })
    await runs.giveUp(lease, one.run, failed)
    const run = await other.runs.get({ tenant: 'acme', run: one.run })
    checkEqual([run?.status, run?.code, run?.reason], ['failed', failed.code, failed.reason], 'It has the error')
    for (const [code, expected] of [
      [failed.code, [one.run]],
      ['run.version', []],
    ] as const) {
      const listed = await other.runs.list({ tenant: 'acme', status: 'failed', code, limit: 9 })
      checkEqual(
        listed.items.map((row) => row.run),
        expected,
        'list() filters by code',
      )
    }
    checkEqual(await other.runs.steps(lease, one.run), [{ id: 'a', body: '1' }], 'Its steps remain')
    await checkRejects(sessions.append(lease, 0, turnOf('one')), 'store.fenced', 'append() by its lease')
    check(!(await isHeld(other.sessions, chat, ms)), 'The session is free')
  },

  async 'retries a failed run if its session has not changed'(bench) {
    const { runs, other } = bench
    const { lease } = await startRun(bench, one)
    await runs.record(lease, one.run, { id: 'a', body: '1' })
    await runs.giveUp(lease, one.run, failed)
    await runs.markReported(lease, one.run)
    checkEqual(await other.runs.retry({ tenant: 'globex', run: one.run }), false, 'Another tenant has no such run')
    checkEqual(await other.runs.retry({ tenant: 'acme', run: one.run }), true, 'It can be run again')
    const [taken] = await claim(bench, other.runs)
    checkEqual(
      [taken?.run.status, taken?.run.attempts, taken?.run.code],
      ['running', 1, undefined],
      'as one that is new',
    )
    if (taken !== undefined)
      checkEqual(await runs.steps(taken.lease, one.run), [{ id: 'a', body: '1' }], 'It continues from its steps')
  },

  async 'keeps a run that was queued again when its earlier end is reported late'(bench) {
    const { runs, other } = bench
    const { lease } = await startRun(bench, one)
    await runs.giveUp(lease, one.run, failed)
    await other.runs.retry({ tenant: 'acme', run: one.run })
    await runs.markReported(lease, one.run)
    const [taken] = await claim(bench, other.runs)
    checkEqual(taken?.run.run, one.run, 'It is claimed')
    if (taken === undefined) return
    await other.runs.giveUp(taken.lease, one.run, failed)
    await runs.markReported(lease, one.run)
    await bench.wait(bench.lease * 2)
    checkEqual(namesOf(await claim(bench, other.runs)), [one.run], 'Its second end has not been reported yet')
  },

  async 'does not retry an ended run, or a run whose session has later turns'(bench) {
    const { runs, sessions, lease: ms } = bench
    const { lease } = await startRun(bench, one)
    checkEqual(await runs.retry({ tenant: 'acme', run: one.run }), false, 'An active run')
    await runs.giveUp(lease, one.run, failed)
    const { lease: next } = await sessions.acquire(chat, ms)
    if (next !== undefined) await sessions.append(next, 0, turnOf('two'), { release: true })
    checkEqual(await runs.retry({ tenant: 'acme', run: one.run }), false, 'A session with a newer turn')
  },

  async 'reports the calls that were not decided in time'(bench) {
    const { sessions, other, lease: ms, wait } = bench
    const { lease } = await startRun(bench, one)
    const expiresAt = (await nowOf(bench0(bench))) + ms
    const turn = suspendedTurn('one', { c1: { token: 't1', expiresAt }, c2: { token: 't2' } })
    await sessions.append(lease, 0, turn, { release: true })
    checkEqual(await other.runs.expiredCalls({ agents, limit: 10 }), [], 'There is still time')
    await wait(ms * 2)
    const expired = await other.runs.expiredCalls({ agents, limit: 10 })
    checkEqual(
      expired.map(({ run, callIds }) => [run.run, callIds, run.task]),
      [[one.run, ['c1'], one.task]],
      'One is late',
    )
    const expiredOf = (name: string) => other.runs.expiredCalls({ agents: [{ name, version: '2' }], limit: 10 })
    checkEqual((await expiredOf('agent')).length, 1, 'The next version of the agent denies it, too')
    checkEqual(await expiredOf('other'), [], 'Another agent does not')
  },

  async 'deletes runs that ended long ago, but not pending ones'(bench) {
    const { runs, sessions, other, lease: ms, wait } = bench
    const { lease } = await startRun(bench, one)
    await sessions.append(lease, 0, turnOf('one'), { release: true })
    await runs.markReported(lease, one.run)
    const waits = runOf('turn-two', { ...chat, sessionId: 'waits' })
    const { lease: second } = await startRun(bench, waits)
    await sessions.append(second, 0, suspendedTurn('two', { c1: { token: 't' } }), { release: true })
    await runs.markReported(second, waits.run)
    await runs.add(runOf('queued', { ...chat, sessionId: 'queued' }, { agent: 'another' }))
    checkEqual(await other.runs.expire({ olderThan: ms * 4 }), {}, 'Nothing is old yet')
    await wait(ms * 6)
    checkEqual(await other.runs.expire({ olderThan: ms * 4 }), { completed: 1 }, 'One has ended long ago')
    const left = [await statusOf(bench, one), await statusOf(bench, waits)]
    checkEqual(left, [undefined, 'suspended'], 'A run with a pending call is kept')
    checkEqual(await statusOf(bench, { ...waits, run: 'queued' }), 'queued', 'as is one that was not run yet')
    check((await sessions.expire({ olderThan: 0 })) >= 0, 'expire() of sessions')
    checkEqual(await statusOf(bench, { ...waits, run: 'queued' }), 'queued', 'A session with a queued run is kept')
  },

  async 'goes with its session'(bench) {
    const { sessions, other } = bench
    await startRun(bench, one)
    await startRun(bench, runOf('other', { ...chat, sessionId: 'other' }))
    await other.sessions.delete(chat)
    checkEqual(await statusOf(bench, one), undefined, 'Deleting a session deletes its runs')
    await sessions.erase({ tenant: 'acme', owner: 'ann' })
    checkEqual(await statusOf(bench, { ...one, run: 'other' }), undefined, 'also where its owner is erased')
  },
}

/** Converts the bench for the helpers of the session suite. */
function bench0({ sessions, other, lease, wait }: RunBench) {
  return { store: sessions, other: other.sessions, lease, wait }
}
