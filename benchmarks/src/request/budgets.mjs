import { missedBudgets } from '../missed.mjs'
import { columns, short } from '../table.mjs'
import { ratioOf } from './measures.mjs'
import { sides } from './sides/index.mjs'

/**
 * The budgets: a measure of one side as a multiple of another side in the same run. `target` is where they should go. `measure` is a
 * workload for the CPU of its requests, or a name of `others` in measures.mjs.
 *
 * @type {{ name: string, to: string, measure: string, most: number, target: number }[]}
 */
const budgets = [
  { name: 'plain', to: 'hand', measure: 'W1', most: 1.9, target: 1.5 },
  { name: 'plain', to: 'hand', measure: 'W2', most: 1.45, target: 1.8 },
  { name: 'plain', to: 'hand', measure: 'W3', most: 2.2, target: 1.5 },
  { name: 'plain', to: 'hand', measure: 'W4', most: 2.5, target: 1.5 },
  { name: 'plain', to: 'hand', measure: 'first chunk', most: 1.85, target: 1.5 },
  { name: 'plain', to: 'hand', measure: 'cold start', most: 1.85, target: 1.5 },
  { name: 'plain', to: 'hand', measure: 'memory', most: 1.5, target: 1.15 },
  { name: 'plain', to: 'hand', measure: 'disk', most: 4, target: 3 },
  { name: 'plain', to: 'hand', measure: 'tail', most: 1, target: 1 },
  { name: 'layers', to: 'hand', measure: 'W1', most: 2.5, target: 2 },
  { name: 'layers', to: 'hand', measure: 'W2', most: 2.2, target: 2.4 },
  { name: 'layers', to: 'hand', measure: 'W3', most: 3, target: 2 },
  { name: 'layers', to: 'hand', measure: 'W4', most: 3, target: 2 },
  { name: 'layers', to: 'hand', measure: 'first chunk', most: 2.4, target: 1.5 },
  { name: 'layers', to: 'hand', measure: 'cold start', most: 2.25, target: 1.5 },
  { name: 'layers', to: 'hand', measure: 'memory', most: 1.7, target: 1.15 },
  { name: 'layers', to: 'hand', measure: 'disk', most: 4.9, target: 3 },
  { name: 'layers', to: 'hand', measure: 'tail', most: 1, target: 1 },
  { name: 'durable', to: 'encrypted', measure: 'W1', most: 1.95, target: 1.8 },
  { name: 'durable', to: 'encrypted', measure: 'W2', most: 1.6, target: 1.8 },
  { name: 'durable', to: 'encrypted', measure: 'W3', most: 1.75, target: 1.8 },
  { name: 'durable', to: 'encrypted', measure: 'W4', most: 1.9, target: 1.8 },
]

const work =
  'Allium also takes a lease, checks the input, keeps events for readers that come back and recognizes repeated turns. ' +
  'What that costs is listed in benchmarks/README.md by cause, and no cause is as large as the gap.'

/** Why a target is missed, by measure. */
const reasons = {
  W1: work,
  W2: work,
  W3: work,
  W4: `${work} It also reads each stored turn from a row of its own.`,
  'first chunk':
    'The lease, the question and the reservations of the layers are stored before the model is called: four commits with layers, two of which sync. By hand it is one.',
  'cold start':
    'Compared with the side by hand, loading Allium takes about 90 ms of CPU more, the provider package of the AI SDK 20 ms, and the schema of a new file 25 ms. The first request runs more code that is not compiled yet.',
  memory:
    'V8 lets the heap grow to four times what a full collection leaves, and objects of a request that live through two young collections stay until the next full one. With --max-old-space-size=40, the resident set is 1.03 × by hand without layers and 1.18 × with layers.',
  disk: 'The file also has the events of each run, the state of the session after it, and the ids and digests that recognize a repeated turn.',
  tail: 'Other programs on the machine delay single requests of either side.',
}

const durableReason = 'A durable run stores each step before it shows it, and its events as they happen.'

/** The budgets that a measurement can check, as a table of text, then the reason of each missed target. */
export function budgetReport(found) {
  const all = verdicts(found)
  const rows = all.map(({ title, to, ratio, most, target, verdict }) => [
    title,
    to === 'hand' ? 'by hand' : sides[to].title,
    ...[ratio, most, target].map((value) => `${short(value)} ×`),
    verdict,
  ])
  const count = (wanted) => all.filter(({ verdict }) => verdict === wanted).length
  return [
    columns([['budget', 'compared with', 'found', 'limit', 'target', ''], ...rows]),
    `${all.length - count('NOT met')} of ${all.length} limits held, ${count('met')} targets met. All sides gave the same answers and stored the same histories.`,
    missedBudgets(all.filter(({ verdict }) => verdict !== 'met')),
  ].join('\n\n')
}

function verdicts(found) {
  return budgets
    .filter(({ name, to }) => [name, to].every((side) => found.names.includes(side)))
    .map((budget) => ({ ...budget, ratio: ratioOf(found, budget.name, budget.measure, budget.to) }))
    .filter(({ ratio }) => Number.isFinite(ratio))
    .map((budget) => ({
      ...budget,
      title: `${sides[budget.name].title}, ${budget.measure}`,
      verdict: budget.ratio > budget.most ? 'NOT met' : budget.ratio > budget.target ? 'target missed' : 'met',
      reason: budget.name === 'durable' ? durableReason : reasons[budget.measure],
    }))
}
