import { checkEqual } from '../check.ts'
import { agents, runOf } from '../runs/run-bench.ts'
import { chat } from '../store/bench.ts'
import { allPages } from '../store/pages.ts'
import { finished, givenUp, named, type OperationsCases } from './operations-bench.ts'

/** Cases: finding and counting runs. */
export const listCases: OperationsCases = {
  async 'lists the runs of all tenants, newest first, over pages of any size'({ runs, other }) {
    for (const [i, tenant] of ['acme', 'globex', 'acme', 'initech'].entries())
      await runs.add(runOf(`r${i}`, named(`s${i}`, tenant)))
    for (const limit of [1, 3, 9]) {
      const all = await allPages(limit, (of) => other.operations.list(of))
      checkEqual(
        all.map(({ run, key }) => [run, key.tenant]),
        [
          ['r3', 'initech'],
          ['r2', 'acme'],
          ['r1', 'globex'],
          ['r0', 'acme'],
        ],
        `Pages of ${limit} return each run once`,
      )
    }
    const some = await other.operations.list({ tenants: ['acme', 'initech'], limit: 9 })
    checkEqual(
      some.items.map(({ run }) => run),
      ['r3', 'r2', 'r0'],
      'Only the runs of these tenants',
    )
    checkEqual((await other.operations.list({ tenants: [], limit: 9 })).items, [], 'Without tenants no run is returned')
  },

  async 'filters by status, agent, version, code and age'(bench) {
    const { runs, other, lease: ms, wait } = bench
    await givenUp(bench, 'failed', 'run.attempts')
    await finished(bench, 'completed')
    await runs.add(runOf('theirs', named('theirs'), { agent: 'sales', version: '2' }))
    const list = async (filter: object) =>
      (await other.operations.list({ ...filter, limit: 9 })).items.map(({ run }) => run)
    checkEqual(await list({ status: 'failed' }), ['failed'], 'by status')
    checkEqual(await list({ agent: 'sales' }), ['theirs'], 'by agent')
    checkEqual(await list({ version: '1' }), ['completed', 'failed'], 'by version')
    checkEqual(await list({ code: 'run.attempts' }), ['failed'], 'by code')
    checkEqual(
      await list({ queue: 'default', owner: chat.owner, session: 'theirs' }),
      ['theirs'],
      'by queue, owner and session',
    )
    checkEqual(await list({ olderThan: ms * 4 }), [], 'Nothing is that old')
    await wait(ms * 5)
    await runs.add(runOf('young', named('young')))
    checkEqual(await list({ olderThan: ms * 4 }), ['theirs', 'completed', 'failed'], 'by age')
  },

  async 'lists and describes runs without their tasks, steps and reasons'(bench) {
    await givenUp(bench, 'one')
    const listed = await bench.other.operations.list({ limit: 9 })
    const described = await bench.other.operations.describe({ tenant: 'acme', run: 'one', limit: 100 })
    checkEqual(listed.items.flatMap(Object.keys).includes('task'), false, 'A listed run has no task')
    checkEqual(/content|It failed/.test(JSON.stringify([listed, described])), false, 'Nothing has content or a reason')
  },

  async 'finds a run by its id, in the given tenants'(bench) {
    const { runs, other } = bench
    await runs.add(runOf('one', named('one')))
    await runs.add(runOf('one', named('one', 'globex')))
    const find = async (tenants?: string[]) =>
      (await other.operations.find({ run: 'one', tenants })).map(({ key }) => key.tenant).toSorted()
    checkEqual(await find(), ['acme', 'globex'], 'in all tenants')
    checkEqual(await find(['globex']), ['globex'], 'in one')
    checkEqual(await find(['initech']), [], 'in a tenant without that run')
    checkEqual(await other.operations.find({ run: 'two' }), [], 'There is no such run')
    await runs.add(runOf('once', named('once')))
    const beginning = async (run: string) => (await other.operations.find({ run })).map((one) => one.run)
    checkEqual(await beginning('onc'), ['once'], 'by its first characters')
    checkEqual(await beginning('on_'), [], 'A pattern is text')
  },

  async 'counts runs by status, agent, version, queue and code, with the time of the oldest'(bench) {
    const { runs, other, lease: ms, wait } = bench
    await givenUp(bench, 'a', 'run.attempts')
    await wait(ms * 2)
    await givenUp(bench, 'b', 'run.attempts')
    await finished(bench, 'c')
    await runs.add(runOf('d', named('d'), { queue: 'emails' }))
    const failed = await other.operations.describe({ tenant: 'acme', run: 'a', limit: 9 })
    const counts = await other.operations.count({})
    const group = { agent: 'agent', version: '1', queue: 'default' }
    checkEqual(counts[0]?.oldest, failed?.run.updatedAt, 'The oldest failed run is the first one')
    checkEqual(
      counts.map(({ oldest: _, ...count }) => count),
      [
        { ...group, status: 'failed', code: 'run.attempts', count: 2 },
        { ...group, status: 'completed', count: 1 },
        { ...group, queue: 'emails', status: 'queued', count: 1 },
      ],
      'count()',
    )
    const open = await other.operations.count({ open: true, tenants: ['acme'] })
    checkEqual(
      open.map(({ status, count }) => [status, count]),
      [['queued', 1]],
      'Only runs that have not ended',
    )
    checkEqual(await other.operations.count({ tenants: ['globex'] }), [], 'Another tenant has none')
    checkEqual(
      (await other.runs.claim({ agents, limit: 9, ms, alone: true, queues: [{ name: 'emails' }] })).length > 0,
      true,
      'It is claimed as usual',
    )
  },
}
