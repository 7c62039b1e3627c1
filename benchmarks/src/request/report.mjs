import { columns, short } from '../table.mjs'
import { median } from '../timed.mjs'
import { sides } from './sides/index.mjs'

const yardstick = 'hand'

/** The figures as tables of text. */
export function report(found) {
  const { names, only } = found
  const cpu = tableOf('ms of CPU per request', only, names, (name, workload) => cpuOf(found, name, workload))
  const ratios = tableOf('× by hand, of the same round', only, names, (name, workload) =>
    ratioOf(found, name, workload),
  )
  return [cpu, ratios, details(found)].join('\n\n')
}

/** The median CPU of a request, in milliseconds. */
function cpuOf(found, name, workload) {
  return medianOf(samplesOf(found, name, workload).map(({ cpu }) => cpu))
}

/** The median over the rounds of the ratio to the yardstick. */
export function ratioOf(found, name, workload, base = yardstick) {
  const theirs = samplesOf(found, base, workload)
  return medianOf(samplesOf(found, name, workload).map(({ cpu }, round) => cpu / theirs[round]?.cpu))
}

function details(found) {
  const { names, only } = found
  const rows = names.flatMap((name) =>
    only.map((workload) => {
      const samples = samplesOf(found, name, workload)
      const answers = samples.flatMap(({ answers }) => answers)
      const totals = answers.map(({ total }) => total)
      const { statements, commits } = found.counts[name]?.[workload] ?? {}
      return [
        ...[sides[name].title, workload, medianOf(totals), quantile(totals, 0.99)],
        ...[
          medianOf(answers.map(({ first }) => first)),
          medianOf(samples.map(({ bytes }) => bytes)),
          statements,
          commits,
        ],
      ]
    }),
  )
  const heads = ['side', '', 'p50 ms', 'p99 ms', 'first chunk ms', 'bytes', 'statements', 'commits']
  const process = names.map((name) => [
    ...[sides[name].title, found.cold[name], (found.rss[name] ?? Number.NaN) / 2 ** 20, found.disk[name]],
  ])
  return [
    columns([heads, ...rows.filter((row) => !Number.isNaN(row[2])).map(cells)]),
    columns([
      ['process', 'cold first answer, ms of CPU', 'RSS after W1, MB', 'disk per turn, bytes'],
      ...process.map(cells),
    ]),
  ].join('\n\n')
}

function tableOf(head, only, names, value) {
  const rows = names.map((name) => [sides[name].title, ...only.map((workload) => value(name, workload))])
  return columns([[head, ...only], ...rows.map(cells)])
}

const samplesOf = ({ samples }, name, workload) =>
  samples.filter((sample) => sample.name === name && sample.workload === workload)

const medianOf = (numbers) => (numbers.length === 0 ? Number.NaN : median(numbers))
const cells = (row) => row.map((cell) => (typeof cell === 'string' ? cell : Number.isFinite(cell) ? short(cell) : '–'))

function quantile(numbers, q) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(q * (numbers.length - 1))] ?? Number.NaN
}
