import { columns, short } from '../table.mjs'
import { medianOf, quantile, ratioOf, samplesOf, tailOf } from './measures.mjs'
import { sides } from './sides/index.mjs'

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

function details(found) {
  const { names, only } = found
  const rows = names.flatMap((name) =>
    only.map((workload) => {
      const samples = samplesOf(found, name, workload)
      const answers = samples.flatMap(({ answers }) => answers)
      const totals = answers.map(({ total }) => total)
      const { statements, commits, syncs } = found.counts[name]?.[workload] ?? {}
      return [
        ...[sides[name].title, workload, medianOf(totals), quantile(totals, 0.99)],
        ...[
          medianOf(answers.map(({ first }) => first)),
          medianOf(samples.map(({ bytes }) => bytes)),
          statements,
          commits,
          syncs,
        ],
      ]
    }),
  )
  const heads = ['side', '', 'p50 ms', 'p99 ms', 'first chunk ms', 'bytes', 'statements', 'commits', 'syncs']
  const process = names.map((name) => [
    ...[sides[name].title, found.cold[name], medianOf(samplesOf(found, name, 'W1').map(({ rss }) => rss)) / 2 ** 20],
    ...[found.disk[name], tailOf(found, name)],
  ])
  return [
    columns([heads, ...rows.filter((row) => !Number.isNaN(row[2])).map(cells)]),
    columns([
      ['process', 'cold first answer, ms of CPU', 'RSS after W1, MB', 'disk per turn, bytes', 'p99 / p50, W1'],
      ...process.map(cells),
    ]),
  ].join('\n\n')
}

function tableOf(head, only, names, value) {
  const rows = names.map((name) => [sides[name].title, ...only.map((workload) => value(name, workload))])
  return columns([[head, ...only], ...rows.map(cells)])
}

const cells = (row) => row.map((cell) => (typeof cell === 'string' ? cell : Number.isFinite(cell) ? short(cell) : '–'))
