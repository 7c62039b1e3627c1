import { readFile, writeFile } from 'node:fs/promises'
import type { Fault } from './faults.ts'
import type { Row, Version } from './row.ts'
import type { Cells } from './run.ts'

/** A cell of the stored table: `right`, `none` where the format has no such thing, or a fault. */
export type StoredCell = 'right' | 'none' | { seen: string; whose: Fault['whose']; note: string }

/** One package in one version. */
export interface StoredRow {
  name: string
  package: string
  version: string
  /** Whether it is the newest version, or the one that npm installs on Node 20. */
  of: Version
  works: Record<string, StoredCell>
}

/** The last results, which the docs show. */
export interface Results {
  date: string
  versions: Record<string, string>
  rows: StoredRow[]
}

const file = new URL('results.json', import.meta.url)

export async function readResults(): Promise<Results> {
  return JSON.parse(await readFile(file, 'utf8'))
}

export async function writeResults(results: Results): Promise<void> {
  await writeFile(file, `${JSON.stringify(results, null, 2)}\n`)
}

/** Returns the row with the reason of each wrong cell; a cell without one is in `unexplained`. */
export function explain(row: Row, of: Version, version: string, cells: Cells, faults: readonly Fault[]) {
  const unexplained: string[] = []
  const works: StoredRow['works'] = {}
  for (const [scenario, seen] of Object.entries(cells)) {
    if (seen === 'right' || seen === 'none') {
      works[scenario] = seen
      continue
    }
    const fault = faults.find((one) => matches(one, row, of, scenario))
    if (fault === undefined) unexplained.push(`${row.name} ${version}, ${scenario}: ${seen}`)
    else works[scenario] = { seen, whose: fault.whose, note: fault.note }
  }
  const stored: StoredRow = { name: row.name, package: row.package, version, of, works }
  return { stored, unexplained }
}

function matches({ rows, version, scenarios }: Fault, row: Row, of: Version, scenario: string): boolean {
  return rows.includes(row.name) && scenarios.includes(scenario) && (version === undefined || version === of)
}

/** Returns the cells of `now` that are not as they were. */
export function changes(before: Results, now: readonly StoredRow[]): string[] {
  return now.flatMap((row) => {
    const old = before.rows.find(({ name, of }) => name === row.name && of === row.of)
    return Object.entries(row.works).flatMap(([scenario, cell]) => {
      const was = old?.works[scenario]
      return seen(was) === seen(cell) ? [] : [`${row.name} ${row.version}, ${scenario}: ${seen(was)} → ${seen(cell)}`]
    })
  })
}

function seen(cell: StoredCell | undefined): string {
  return typeof cell === 'object' ? cell.seen : (cell ?? 'not tried')
}

/** Returns the table as text, with a letter for each cell. */
export function tableOf(rows: readonly StoredRow[], scenarios: readonly string[]): string {
  const label = ({ name, version }: StoredRow) => `${name} ${version}`
  const width = Math.max(...rows.map((row) => label(row).length))
  const head = scenarios.map((name, index) => `${' '.repeat(width)} ${'│ '.repeat(index)}┌ ${name}`)
  const lines = rows.map(
    (row) => `${label(row).padEnd(width)} ${scenarios.map((name) => letter(row.works[name])).join(' ')}`,
  )
  return [...head, ...lines].join('\n')
}

function letter(cell: StoredCell | undefined): string {
  if (cell === undefined) return '?'
  if (typeof cell === 'object') return cell.whose === 'package' ? 'p' : 'A'
  return cell === 'right' ? '✓' : '·'
}
