import { check, checkEqual } from '../check.ts'
import { chat } from '../store/bench.ts'
import { agents, namesOf, type RunCases, runOf, startRun } from './run-bench.ts'

const one = runOf('one', chat)
const id = { tenant: 'acme', run: one.run }
const versions = { from: '1', to: '2' }
const next = [{ name: 'agent', version: '2' }]

/** How a run moves to another version of its agent. */
export const migrateCases: RunCases = {
  async 'moves a waiting run to another version, whose workers claim it then'({ runs, other, lease: ms }) {
    await runs.add(one)
    checkEqual(await other.runs.migrate({ ...id, tenant: 'globex' }, versions), false, 'Another tenant has no such run')
    checkEqual(await other.runs.migrate(id, versions), true, 'It is moved')
    checkEqual(await other.runs.migrate(id, versions), false, 'It no longer has the former version')
    checkEqual(namesOf(await runs.claim({ agents, limit: 1, ms, alone: true })), [], 'No worker of the former version')
    checkEqual(
      namesOf(await runs.claim({ agents: next, limit: 1, ms, alone: true })),
      [one.run],
      'One of the new version',
    )
  },

  async 'moves a lost run once its lease has expired, with its steps'(bench) {
    const { runs, other, lease: ms } = bench
    const { lease } = await startRun(bench, one)
    await runs.record(lease, one.run, { id: 'a', body: '1' })
    checkEqual(await other.runs.migrate(id, versions), false, 'A process is executing it')
    await bench.wait(ms * 2)
    checkEqual(await other.runs.migrate(id, versions), true, 'Its process is lost')
    const [claimed] = await other.runs.claim({ agents: next, limit: 1, ms, alone: true })
    check(claimed !== undefined, 'A worker of the new version claims it')
    if (claimed !== undefined)
      checkEqual(await runs.steps(claimed.lease, one.run), [{ id: 'a', body: '1' }], 'It continues from its steps')
  },

  async 'moves a failed run and queues it again'(bench) {
    const { runs, other, lease: ms } = bench
    const { lease } = await startRun(bench, one)
    await runs.giveUp(lease, one.run, { status: 'failed', code: 'journal.diverged', reason: 'Other code.' })
    checkEqual(await other.runs.migrate(id, versions), true, 'It is moved')
    const [claimed] = await other.runs.claim({ agents: next, limit: 1, ms, alone: true })
    checkEqual([claimed?.run.version, claimed?.run.code], ['2', undefined], 'It runs like a new one')
  },

  async 'does not move a run that was aborted'(bench) {
    const { runs } = bench
    const { lease } = await startRun(bench, one)
    await runs.giveUp(lease, one.run, { status: 'aborted', code: 'run.failed', reason: 'Stopped.' })
    checkEqual(await runs.migrate(id, versions), false, 'It has ended')
  },
}
