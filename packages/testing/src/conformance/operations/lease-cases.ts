import { checkEqual, checkRejects } from '../check.ts'
import { agents, runOf, startRun } from '../runs/run-bench.ts'
import { named, type OperationsCases } from './operations-bench.ts'

/** Cases: which process holds a run, and how an operator takes it away. */
export const leaseCases: OperationsCases = {
  async 'shows which process holds a run and until when, and that it is lost'(bench) {
    const { runs, other, lease: ms, wait } = bench
    await runs.add(runOf('one', named('one')))
    await runs.claim({ agents, limit: 1, ms, alone: true, worker: 'a:1' })
    const find = async () => (await other.operations.find({ run: 'one' }))[0]
    const held = await find()
    checkEqual([held?.status, held?.worker], ['running', 'a:1'], 'A process holds it')
    checkEqual((held?.heldUntil ?? 0) > (await other.operations.now()), true, 'Its lease lasts')
    await wait(ms * 2)
    checkEqual((await find())?.status, 'lost', 'Its lease has ended')
    const listed = await other.operations.list({ status: 'lost', limit: 9 })
    checkEqual(
      [listed.items.length, (await other.operations.count({}))[0]?.status],
      [1, 'lost'],
      'It is found and counted',
    )
  },

  async 'ends a run at once, whichever process holds it'(bench) {
    const { runs, other } = bench
    const { lease } = await startRun(bench, runOf('one', named('one')))
    const end = () =>
      other.operations.forceStop({ tenant: 'acme', run: 'one' }, { code: 'run.failed', reason: 'It hangs.' })
    checkEqual([await end(), await end()], [true, false], 'It ends once')
    const ended = await runs.get({ tenant: 'acme', run: 'one' })
    checkEqual(
      [ended?.status, ended?.reason, await runs.renew([lease], 1000)],
      ['aborted', 'It hangs.', [false]],
      'It has ended',
    )
    await checkRejects(
      runs.record(lease, 'one', { id: 'one:model:0', body: 'x' }),
      'store.fenced',
      'The process cannot write',
    )
  },
}
