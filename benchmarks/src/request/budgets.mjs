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
  { name: 'plain', to: 'hand', measure: 'W1', most: 1.95, target: 1.5 },
  { name: 'plain', to: 'hand', measure: 'W2', most: 1.45, target: 1.8 },
  { name: 'plain', to: 'hand', measure: 'W3', most: 2.3, target: 1.5 },
  { name: 'plain', to: 'hand', measure: 'W4', most: 2.65, target: 1.5 },
  { name: 'plain', to: 'hand', measure: 'first chunk', most: 1.9, target: 1.5 },
  { name: 'plain', to: 'hand', measure: 'cold start', most: 1.85, target: 1.5 },
  { name: 'plain', to: 'hand', measure: 'memory', most: 1.5, target: 1.15 },
  { name: 'plain', to: 'hand', measure: 'disk', most: 5, target: 3 },
  { name: 'plain', to: 'hand', measure: 'tail', most: 1, target: 1 },
  { name: 'layers', to: 'hand', measure: 'W1', most: 2.5, target: 2 },
  { name: 'layers', to: 'hand', measure: 'W2', most: 2.4, target: 2.4 },
  { name: 'layers', to: 'hand', measure: 'W3', most: 3.15, target: 2 },
  { name: 'layers', to: 'hand', measure: 'W4', most: 3.75, target: 2 },
  { name: 'layers', to: 'hand', measure: 'first chunk', most: 2.5, target: 1.5 },
  { name: 'layers', to: 'hand', measure: 'cold start', most: 2.3, target: 1.5 },
  { name: 'layers', to: 'hand', measure: 'memory', most: 1.7, target: 1.15 },
  { name: 'layers', to: 'hand', measure: 'disk', most: 5.9, target: 3 },
  { name: 'layers', to: 'hand', measure: 'tail', most: 1.65, target: 1 },
  { name: 'durable', to: 'encrypted', measure: 'W1', most: 1.95, target: 1.8 },
  { name: 'durable', to: 'encrypted', measure: 'W2', most: 1.6, target: 1.8 },
  { name: 'durable', to: 'encrypted', measure: 'W3', most: 1.75, target: 1.8 },
  { name: 'durable', to: 'encrypted', measure: 'W4', most: 1.9, target: 1.8 },
]

/** Why a target is missed, by measure. */
const reasons = {
  W1: '…',
}

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
      reason: reasons[budget.measure],
    }))
}
