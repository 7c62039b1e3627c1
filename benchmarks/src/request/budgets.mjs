import { missedBudgets } from '../missed.mjs'
import { columns, short } from '../table.mjs'
import { ratioOf } from './measures.mjs'
import { sides } from './sides/index.mjs'

const measures = ['W1', 'W2', 'W3', 'W4', 'first chunk', 'cold start', 'memory', 'disk', 'tail']
const workloads = ['W1', 'W2', 'W3', 'W4']

/**
 * The budgets: a measure of one side as a multiple of another side in the same run. `target` is where they should go. `measure` is a
 * workload for the CPU of its requests, or a name of `others` in measures.mjs. With `more`, the value is the difference of both sides'
 * multiples of the side by hand.
 *
 * @typedef {{ name: string, to: string, measure: string, most: number, target: number, more?: true }} Budget
 */

/** @type {Budget[]} */
const own = [
  ...budgetsOf('plain', 'hand', measures, {
    most: [1.65, 1.45, 1.85, 1.95, 1.4, 1.75, 1.5, 2.6, 1],
    target: [1.4, 1.3, 1.5, 1.5, 1.3, 1.4, 1.2, 2.5, 1],
  }),
  ...budgetsOf('layers', 'hand', measures, {
    most: [1.9, 2.15, 2.3, 2.55, 1.75, 2.05, 1.7, 3.6, 1],
    target: [1.8, 1.7, 1.9, 1.9, 1.5, 1.5, 1.3, 3, 1],
  }),
  ...budgetsOf('recorded', 'layers', ['W3'], { most: [1.1], target: [1.1] }),
  ...budgetsOf('durable', 'hand', measures.slice(0, -1), {
    most: [3.5, 3.1, 3.7, 4.6, 3.6, 2.15, 2.05, 6.5],
    target: [3, 2.4, 3, 3, 2.5, 1.6, 1.5, 5],
  }),
  ...budgetsOf('durable', 'encrypted', workloads, { most: [1.85, 1.6, 1.75, 1.8], target: [1.8, 1.6, 1.75, 1.8] }),
  ...budgetsOf('encrypted', 'layers', workloads, { most: [0.3, 0.2, 0.4, 0.6], target: [0.2, 0.2, 0.2, 0.2] }).map(
    (budget) => ({ ...budget, more: true }),
  ),
]

/** @type {Budget[]} */
const ofPages = [
  ...budgetsOf('plain', 'hand', workloads.slice(0, 3), { most: [2.45, 1.95, 2.35], target: [1.7, 1.9, 1.9] }),
  ...budgetsOf('layers', 'hand', workloads.slice(0, 3), { most: [3, 2.6, 2.9], target: [2.2, 2.6, 2.4] }),
  ...budgetsOf('durable', 'hand', ['W1'], { most: [3.8], target: [3.6] }),
]

function budgetsOf(name, to, measures, { most, target }) {
  return measures.map((measure, i) => ({ name, to, measure, most: most[i], target: target[i] }))
}

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

/** Why a target of a side is missed, whatever the measure. */
const reasonsOf = {
  durable: 'A durable run stores each step before it shows it, and its events as they happen.',
  recorded:
    'A run that is being recorded holds 78 KB of objects instead of 54 KB until it ends, so V8 copies a third more in young collections. Storing the recording costs nearly nothing, because it shares the transaction of the turn.',
  encrypted: 'Each row of a turn, of its events and of a state is sealed and opened on its own.',
}

/**
 * The budgets that a measurement can check, as a table of text, then the reason of each missed target.
 *
 * @param {import('./settings.mjs').Setting} setting
 */
export function budgetReport(found, { ui }) {
  const all = verdicts(found, ui ? ofPages : own)
  const rows = all.map(({ title, to, more, ratio, most, target, verdict }) => [
    title,
    to === 'hand' ? 'by hand' : sides[to].title,
    ...[ratio, most, target].map((value) => `${more ? '+ ' : ''}${short(value)} ×`),
    verdict,
  ])
  const count = (wanted) => all.filter(({ verdict }) => verdict === wanted).length
  return [
    columns([['budget', 'compared with', 'found', 'limit', 'target', ''], ...rows]),
    `${all.length - count('NOT met')} of ${all.length} limits held, ${count('met')} targets met. All sides gave the same answers and stored the same histories.`,
    missedBudgets(all.filter(({ verdict }) => verdict !== 'met')),
  ].join('\n\n')
}

function verdicts(found, budgets) {
  return budgets
    .filter(({ name, to }) => [name, to].every((side) => found.names.includes(side)))
    .map((budget) => ({ ...budget, ratio: foundOf(found, budget) }))
    .filter(({ ratio }) => Number.isFinite(ratio))
    .map((budget) => ({
      ...budget,
      title: `${sides[budget.name].title}, ${budget.measure}`,
      verdict: budget.ratio > budget.most ? 'NOT met' : budget.ratio > budget.target ? 'target missed' : 'met',
      reason: reasonsOf[budget.name] ?? reasons[budget.measure],
    }))
}

function foundOf(found, { name, to, measure, more }) {
  return more ? ratioOf(found, name, measure) - ratioOf(found, to, measure) : ratioOf(found, name, measure, to)
}
