import { columns, short } from '../../table.mjs'
import { median } from '../../timed.mjs'

/** The CPU of servers and Postgres together, as a multiple of the earlier version in the same round. */
const budgets = { W1: { most: 1.05, target: 0.5 }, W3: { most: 1.05, target: 0.5 } }

/** The figures as tables of text. The budgets need `ALLIUM_BENCH_EARLIER`. @param {Awaited<ReturnType<typeof import('./two-servers.mjs').twoServers>>} found */
export function postgresReport(found) {
  return `${cpuTable(found)}\n\n${budgetTable(found)}`
}

function cpuTable(found) {
  const heads = [
    'two servers, 2,000 sessions',
    '',
    'ms of CPU, servers',
    'ms of CPU, Postgres',
    'together',
    'requests per second',
  ]
  const rows = found.map(({ workload, version, samples }) => {
    const over = (value) => short(median(samples.map(value)))
    return [
      ...[workload, version],
      ...[
        over(({ servers }) => servers),
        over(({ postgres }) => postgres),
        over(together),
        over(({ perSecond }) => perSecond),
      ],
    ]
  })
  return columns([heads, ...rows])
}

function budgetTable(found) {
  const rows = Object.entries(budgets).flatMap(([workload, { most, target }]) => {
    const [now, earlier] = ['now', 'earlier'].map((version) => samplesOf(found, workload, version))
    if (earlier === undefined) return []
    const ratio = median(now.map((sample, round) => together(sample) / together(earlier[round])))
    const verdict = ratio > most ? 'NOT met' : ratio > target ? 'target missed' : 'met'
    return [[`${workload}, CPU together`, ...[ratio, most, target].map((value) => `${short(value)} ×`), verdict]]
  })
  if (rows.length === 0)
    return 'ALLIUM_BENCH_EARLIER=<built checkout> compares the CPU with an earlier version, and checks its budgets.'
  return columns([['beside the earlier version', 'found', 'limit', 'target', ''], ...rows])
}

const together = ({ servers, postgres }) => servers + postgres

const samplesOf = (found, workload, version) =>
  found.find((one) => one.workload === workload && one.version === version)?.samples
