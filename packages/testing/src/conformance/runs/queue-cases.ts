import type { ClaimedRun, ClaimQueue, RunStore } from '@allium/store'
import { check, checkEqual, checkRejects } from '../check.ts'
import { chat, turnOf } from '../store/bench.ts'
import { claim, namesOf, type RunBench, type RunCases, runOf, startRun } from './run-bench.ts'

const queue = 'emails'

/** Adds a run in its own session. */
async function addWaiting(
  { runs }: RunBench,
  run: string,
  more: { tenant?: string; priority?: number; runAt?: number } = {},
) {
  const { tenant = 'acme', ...rest } = more
  return runs.add(runOf(run, { ...chat, tenant, sessionId: run }, { queue, ...rest }))
}

async function addAll(bench: RunBench, names: readonly string[], tenant = 'acme'): Promise<void> {
  for (const name of names) await addWaiting(bench, name, { tenant })
}

/** Longer than any case, also on a busy machine. */
const longLease = 600_000

/** Claims waiting runs only. */
function claimFrom(
  bench: RunBench,
  store: RunStore,
  limits: Omit<ClaimQueue, 'name'> = {},
  limit = 10,
  ms = longLease,
) {
  return claim(bench, store, { limit, queues: [{ name: queue, ...limits }], waitingOnly: true, ms })
}

function claimAny(bench: RunBench, store: RunStore, limits: Omit<ClaimQueue, 'name'>) {
  return claim(bench, store, { queues: [{ name: queue, ...limits }], ms: longLease })
}

async function end({ sessions }: RunBench, ...claimed: readonly (ClaimedRun | undefined)[]): Promise<void> {
  for (const one of claimed)
    if (one !== undefined)
      await sessions.append(one.lease, 0, { ...turnOf(one.run.run), turnId: one.run.run }, { release: true })
}

const numbered = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${i + 1}`)

/** Cases: in which order waiting runs start, and how many of them. */
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

  async 'starts a smaller priority first, and among equals the one that has waited longer'(bench) {
    await addWaiting(bench, 'late', { priority: 5 })
    await addWaiting(bench, 'first')
    await addWaiting(bench, 'urgent', { priority: -5 })
    await addWaiting(bench, 'second')
    const names: string[] = []
    for (let i = 0; i < 4; i++)
      names.push(...namesOf(await claimFrom(bench, i % 2 ? bench.runs : bench.other.runs, {}, 1)))
    checkEqual(names, ['urgent', 'first', 'second', 'late'], 'The order')
  },

  async 'counts a minute of waiting as one step of priority, so that no run starves'(bench) {
    const { runAt } = (await addWaiting(bench, 'now')).run
    await addWaiting(bench, 'low', { priority: 10, runAt: runAt - 11 * 60_000 })
    await addWaiting(bench, 'lower', { priority: 20, runAt: runAt - 11 * 60_000 })
    const names = namesOf(await claimFrom(bench, bench.runs))
    checkEqual(names, ['low', 'now', 'lower'], 'Eleven minutes are more than ten steps, and less than twenty')
  },

  async 'starts a low priority although urgent runs keep arriving'(bench) {
    const { runAt } = (await addWaiting(bench, 'urgent')).run
    await addWaiting(bench, 'low', { priority: 3 })
    const names: string[] = []
    // As if one urgent run arrived every 30 seconds. The future is not due yet, so the past has to do.
    await addWaiting(bench, 'patient', { priority: 3, runAt: runAt - 300_000 })
    for (let i = 1; i <= 10; i++) {
      await addWaiting(bench, `urgent ${i}`, { runAt: runAt - 300_000 + i * 30_000 })
      names.push(...namesOf(await claimFrom(bench, bench.runs, {}, 1)))
    }
    check(
      names.includes('patient'),
      `A run of priority 3 starts before urgent ones that arrive three minutes later (${names})`,
    )
  },

  async 'lets tenants take turns, however many runs one of them has'(bench) {
    await addAll(bench, numbered('a', 30))
    const [first] = await claimFrom(bench, bench.runs, {}, 1)
    await addAll(bench, ['b1', 'b2'], 'globex')
    await addAll(bench, ['c1'], 'initech')
    const names: string[] = []
    for (let i = 0; i < 6; i++)
      names.push(...namesOf(await claimFrom(bench, i % 2 ? bench.runs : bench.other.runs, {}, 1)))
    const position = (run: string) => names.indexOf(run)
    checkEqual([first?.run.run, names.length], ['a1', 6], 'Each claim starts one run')
    check(Math.max(position('b1'), position('c1')) <= 2, `Each tenant waits for one run of the others (${names})`)
    check(position('b2') > 0 && position('b2') <= 4, `and so does its second run (${names})`)
  },

  async 'gives each tenant a share of one large claim'(bench) {
    await addAll(bench, numbered('a', 20))
    await addAll(bench, numbered('b', 20), 'globex')
    const names = namesOf(await claimFrom(bench, bench.runs, { concurrency: 10 }, 10))
    checkEqual(names.filter((name) => name.startsWith('b')).length, 5, 'Half of the places')
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
