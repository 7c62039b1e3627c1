import { check, checkEqual } from '../check.ts'
import { addAll, addWaiting, claimFrom, numbered } from './queue-bench.ts'
import { namesOf, type RunCases } from './run-bench.ts'

/** Cases: in which order waiting runs start. */
export const queueOrderCases: RunCases = {
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
}
