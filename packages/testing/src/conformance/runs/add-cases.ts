import { checkEqual, checkRejects } from '../check.ts'
import { chat, suspendedTurn, turnOf } from '../store/bench.ts'
import { bytesOf } from '../store/blob-cases.ts'
import { allPages } from '../store/pages.ts'
import { claim, type RunCases, runOf, startRun, statusOf } from './run-bench.ts'

const named = (sessionId: string) => ({ ...chat, sessionId })

/** Cases: adding runs, and finding them. */
export const addCases: RunCases = {
  async 'keeps a run with its task, for its tenant only'({ runs, other }) {
    const task = { input: 'Hé 👩‍👩‍👧', at: new Date(5), bytes: new Uint8Array([1, 2]) }
    const { run, isNew } = await runs.add(runOf('one', chat, { task, idempotencyKey: 'k', fingerprint: 'a' }))
    checkEqual([isNew, run.status, run.attempts], [true, 'queued', 0], 'It is new and queued')
    const found = await other.runs.get({ tenant: 'acme', run: 'one' })
    checkEqual(found, run, 'get() gives what add() gave')
    checkEqual(
      [found?.task, found?.key, found?.agent, found?.version],
      [task, chat, 'agent', '1'],
      'All fields are stored',
    )
    checkEqual(await other.runs.get({ tenant: 'globex', run: 'one' }), undefined, 'Another tenant has no such run')
    await runs.add(runOf('one', { ...chat, tenant: 'globex' }, { task: 'theirs' }))
    checkEqual(
      (await runs.get({ tenant: 'acme', run: 'one' }))?.task,
      task,
      'Ids of one tenant are not those of another',
    )
  },

  async 'keeps the images of the task until the run ends, and returns them to its worker'(bench) {
    const { runs, sessions, other } = bench
    const data = [bytesOf(270_000), 'iVBORw0KGgo'.repeat(1000)]
    const task = { input: { role: 'user', content: data.map((one) => ({ type: 'image', data: one })) } }
    const added = await Promise.all(
      ['a', 'b'].map((id) => runs.add(runOf(id, named(id), { task, idempotencyKey: id, fingerprint: id }))),
    )
    for (const { run } of added) checkEqual(run.task, task, 'add() gives the task')
    checkEqual((await other.runs.find(named('a'), 'a'))?.task, task, 'find() gives it')
    const [a, b] = await claim(bench, other.runs)
    checkEqual([a?.run.task, b?.run.task], [task, task], 'claim() gives it to who takes the run')
    if (a === undefined) return
    await sessions.append(a.lease, 0, { ...turnOf('x'), turnId: a.run.run }, { release: true })
    checkEqual(
      (await runs.get({ tenant: 'acme', run: a.run.run }))?.task,
      undefined,
      'A run that has ended has no task',
    )
    const left = await runs.get({ tenant: 'acme', run: b?.run.run ?? '' })
    checkEqual(left?.task, task, 'Another run of the same owner keeps the same image')
  },

  async 'is one run under one key, and refuses another task under it'(bench) {
    const { runs, other, lease: ms } = bench
    const keyed = { idempotencyKey: 'k', fingerprint: 'the task' }
    const asked = [runs, other.runs, runs, other.runs].map((own, i) =>
      own.add(runOf(`r${i}`, chat, keyed), { claim: ms }),
    )
    const all = await Promise.all(asked)
    checkEqual(all.filter(({ isNew }) => isNew).length, 1, 'One of the concurrent callers starts a run')
    checkEqual(new Set(all.map(({ run }) => run.run)).size, 1, 'and all callers receive it')
    checkEqual((await other.runs.find(chat, 'k'))?.run, all[0]?.run.run, 'find() gives it, too')
    const reused = runs.add(runOf('x', chat, { ...keyed, fingerprint: 'another' }))
    await checkRejects(reused, 'run.key_reused', 'add() of another task under the key')
    const elsewhere = await runs.add(runOf('y', named('other'), { ...keyed, fingerprint: 'another' }))
    checkEqual(elsewhere.isNew, true, 'A key belongs to its session')
  },

  async 'records the first step with a run that it claims, and with no other one'(bench) {
    const { runs, other } = bench
    const step = (run: string) => ({ firstStep: { id: `${run}:start`, body: [[], { result: 5 }] } })
    const { lease } = await startRun(bench, runOf('one', named('a'), step('one')))
    checkEqual(await other.runs.steps(lease, 'one'), [step('one').firstStep], 'It is there with the claim')
    await runs.record(lease, 'one', { id: 'one:start', body: 'again' })
    checkEqual(await other.runs.steps(lease, 'one'), [step('one').firstStep], 'It is recorded once')
    await runs.add(runOf('two', named('b'), step('two')))
    const [claimed] = await claim(bench, runs)
    if (claimed !== undefined) checkEqual(await runs.steps(claimed.lease, 'two'), [], 'A run that waits has not begun')
  },

  async 'keeps the shape of the code once for all runs that have it'({ runs, other }) {
    const shape = { digest: 'd1', body: '{"layers":[]}' }
    await runs.add(runOf('one', named('a'), { shape }))
    const { run } = await other.runs.add(runOf('two', named('b'), { shape: { digest: 'd1' } }))
    checkEqual([run.shape, (await runs.get({ tenant: 'acme', run: 'one' }))?.shape], ['d1', 'd1'], 'Both name it')
    checkEqual([await other.runs.shape('d1'), await runs.shape('d2')], [shape.body, undefined], 'and one text is there')
    for (let i = 0; i < 1001; i++)
      await runs.add(runOf(`r${i}`, named(`r${i}`), { shape: { digest: `n${i}`, body: '' } }))
    checkEqual([await runs.shape('d1'), await runs.shape('n1')], [undefined, ''], 'The latest 1,000 are kept')
  },

  async 'refuses a time that no clock shows, and adds the next run all the same'({ runs, other, lease: ms }) {
    for (const runAt of [-1e308, 1e308, Number.NaN, Number.NEGATIVE_INFINITY])
      await checkRejects(runs.add(runOf(`at ${runAt}`, chat, { runAt })), 'run.options', `add() with runAt ${runAt}`)
    const { isNew } = await other.runs.add(runOf('next', chat), { claim: ms })
    checkEqual(isNew, true, 'A rejected run does not block other runs')
  },

  async 'adds nothing while another process holds the session, on request, and reports until when'(bench) {
    const { runs, other, sessions, lease: ms, wait } = bench
    const asked = { claim: ms, unlessBusy: ms }
    const keyed = { idempotencyKey: 'k', fingerprint: 'the task' }
    const both = await Promise.allSettled([
      runs.add(runOf('one', chat, keyed), asked),
      other.runs.add(runOf('two', chat), asked),
    ])
    const refused = both.filter(({ status }) => status === 'rejected')
    checkEqual(refused.length, 1, 'One of two concurrent callers is rejected')
    const [busy] = refused as PromiseRejectedResult[]
    checkEqual([busy?.reason.code, busy?.reason.details.heldUntil > 0], ['session.busy', true], 'and told why')
    const again = () => other.runs.add(runOf('again', chat, keyed), asked)
    if (both[0]?.status === 'fulfilled') checkEqual((await again()).isNew, false, 'A known run is returned')
    await checkRejects(runs.add(runOf('three', chat), asked), 'session.busy', 'add() while another one runs')
    await wait(ms * 2)
    await checkRejects(runs.add(runOf('three', chat), asked), 'session.busy', 'add() where a run has lost its process')
    checkEqual(await statusOf(bench, runOf('three', chat)), undefined, 'Nothing was added')
    await runs.add(runOf('waits', chat))
    const elsewhere = await sessions.acquire(named('held'), ms)
    await checkRejects(runs.add(runOf('four', named('held')), asked), 'session.busy', 'add() with another lease active')
    if (elsewhere.lease !== undefined) await sessions.release(elsewhere.lease)
    checkEqual((await runs.add(runOf('four', named('held')), asked)).isNew, true, 'A session that is free')
  },

  async 'uses up the calls that it decides, all or none, once'(bench) {
    const { runs, sessions, other } = bench
    const { lease } = await startRun(bench, runOf('turn-one', chat))
    await sessions.append(lease, 0, suspendedTurn('one', { c1: { token: 't1' }, c2: { token: 't2' } }), {
      release: true,
    })
    const both = runs.add(runOf('a', chat, { resolvedCalls: ['c1', 'gone'] }))
    await checkRejects(both, 'approval.used', 'add() that decides a call which does not wait')
    checkEqual(await statusOf(bench, runOf('a', chat)), undefined, 'Nothing was added')
    const asked = ['b', 'c'].map((run, i) =>
      (i === 0 ? runs : other.runs).add(runOf(run, chat, { resolvedCalls: ['c1', 'c2'] })),
    )
    const ends = (await Promise.allSettled(asked)).map(({ status }) => status).toSorted()
    checkEqual(ends, ['fulfilled', 'rejected'], 'One of two concurrent decisions succeeds')
    checkEqual(
      (await sessions.pendingCalls({ tenant: 'acme', limit: 10 })).items,
      [],
      'The calls are no longer pending',
    )
  },

  async 'lists the runs of a tenant, the newest first, over pages of any size'({ runs, other }) {
    for (const [i, owner] of ['ann', 'bob', 'ann', 'bob', 'ann'].entries())
      await runs.add(runOf(`r${i}`, { ...named(`s${i}`), owner }))
    await runs.add(runOf('theirs', { ...chat, tenant: 'globex' }))
    for (const limit of [1, 2, 5, 9]) {
      const all = await allPages(limit, (of) => other.runs.list({ tenant: 'acme', ...of }))
      checkEqual(
        all.map(({ run }) => run),
        ['r4', 'r3', 'r2', 'r1', 'r0'],
        `Pages of ${limit} return each run once`,
      )
    }
    const ofBob = await other.runs.list({ tenant: 'acme', owner: 'bob', limit: 9 })
    checkEqual(
      ofBob.items.map(({ run }) => run),
      ['r3', 'r1'],
      'Only the runs of one owner',
    )
    const running = await other.runs.list({ tenant: 'acme', status: 'running', limit: 9 })
    checkEqual(running.items, [], 'Only the runs of one status')
  },

  async 'records a step once: the first one wins'(bench) {
    const { runs } = bench
    const { lease } = await startRun(bench, runOf('one', chat))
    const ids = ['one:start', 'tool:é "1"', 'model:0']
    await Promise.all(ids.map((id) => runs.record(lease, 'one', { id, body: `{"id":"${id}"}` })))
    await runs.record(lease, 'one', { id: 'model:0', body: 'again' })
    const steps = await bench.other.runs.steps(lease, 'one')
    checkEqual(
      Object.fromEntries(steps.map(({ id, body }) => [id, body])),
      Object.fromEntries(ids.map((id) => [id, `{"id":"${id}"}`])),
      'steps() gives each as it was recorded first',
    )
    await checkRejects(runs.record(lease, 'two', { id: 'x', body: '' }), 'store.fenced', 'record() for another run')
  },
}
