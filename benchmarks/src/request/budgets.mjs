import { columns, short } from '../table.mjs'
import { ratioOf } from './report.mjs'
import { sides } from './sides/index.mjs'

/**
 * The budgets: CPU of a request as a multiple of another side in the same round. `target` is where they should go.
 *
 * @type {{ name: string, to: string, workload: string, most: number, target: number }[]}
 */
const budgets = [
  { name: 'plain', to: 'hand', workload: 'W1', most: 1.95, target: 1.5 },
  { name: 'plain', to: 'hand', workload: 'W2', most: 1.45, target: 1.8 },
  { name: 'plain', to: 'hand', workload: 'W3', most: 2.3, target: 1.5 },
  { name: 'plain', to: 'hand', workload: 'W4', most: 2.65, target: 1.5 },
  { name: 'layers', to: 'hand', workload: 'W1', most: 2.5, target: 2 },
  { name: 'layers', to: 'hand', workload: 'W2', most: 2.4, target: 2.4 },
  { name: 'layers', to: 'hand', workload: 'W3', most: 3.15, target: 2 },
  { name: 'layers', to: 'hand', workload: 'W4', most: 3.75, target: 2 },
  { name: 'durable', to: 'encrypted', workload: 'W1', most: 1.95, target: 1.8 },
  { name: 'durable', to: 'encrypted', workload: 'W2', most: 1.6, target: 1.8 },
  { name: 'durable', to: 'encrypted', workload: 'W3', most: 1.75, target: 1.8 },
  { name: 'durable', to: 'encrypted', workload: 'W4', most: 1.9, target: 1.8 },
]

/** The budgets that a measurement can check, and whether it meets them. */
export function verdicts(found) {
  return budgets
    .filter(
      ({ name, to, workload }) =>
        [name, to].every((side) => found.names.includes(side)) && found.only.includes(workload),
    )
    .map((budget) => {
      const ratio = ratioOf(found, budget.name, budget.workload, budget.to)
      return { ...budget, ratio, met: ratio <= budget.most }
    })
}

/** The verdicts as a table of text. */
export function budgetTable(all) {
  const rows = all.map(({ name, to, workload, ratio, most, target, met }) => [
    `${sides[name].title}, ${workload}`,
    to === 'hand' ? 'by hand' : sides[to].title,
    ...[ratio, most, target].map((value) => `${short(value)} ×`),
    met ? 'met' : 'NOT met',
  ])
  const count = all.filter(({ met }) => met).length
  return `${columns([['CPU of a request', 'compared with', 'found', 'limit', 'target', ''], ...rows])}\n\n${count} of ${all.length} budgets met. All sides gave the same answers and stored the same histories.`
}
