import type { Cell, Seen } from './results.ts'

/** Returns the table as text, with a sign for each cell. */
export function tableOf(seen: readonly Seen[], scenarios: readonly string[]): string {
  const label = ({ row, version }: Seen) => `${row.name} ${version}`
  const width = Math.max(...seen.map((one) => label(one).length))
  const head = scenarios.map((name, index) => `${' '.repeat(width)} ${'│ '.repeat(index)}┌ ${name}`)
  const lines = seen.map(
    (one) => `${label(one).padEnd(width)} ${scenarios.map((name) => sign(one.works[name])).join(' ')}`,
  )
  return [...head, ...lines, '', countsOf(seen, scenarios)].join('\n')
}

function sign(cell: Cell | undefined): string {
  if (cell === undefined) return '?'
  if (typeof cell === 'object') return cell.fault.whose === 'package' ? 'p' : 'A'
  return cell === 'right' ? '✓' : '·'
}

function countsOf(seen: readonly Seen[], scenarios: readonly string[]): string {
  const signs = seen.flatMap(({ works }) => scenarios.map((name) => sign(works[name])))
  const count = (wanted: string) => signs.filter((one) => one === wanted).length
  return (
    `${seen.length} model objects × ${scenarios.length} scenarios: ${count('✓')} right, ${count('·')} without such a thing (·), ` +
    `${count('p')} faults of packages (p), ${count('A')} faults of Allium (A), ${count('?')} unexplained (?).`
  )
}
