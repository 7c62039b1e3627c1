import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Fault } from './faults.ts'
import type { Row, Version } from './row.ts'
import type { Cells } from './run.ts'

/** What came of a scenario. `none`: the format has no such thing. */
export type Cell = 'right' | 'none' | { seen: string; fault: Fault }

/** The last results. The docs show `name`, `version`, `works`, `set` and `notes` of each row. */
export interface Results {
  title: string
  about: string
  date: string
  versions: Record<string, string>
  scenarios: readonly string[]
  rows: StoredRow[]
}
export interface StoredRow {
  name: string
  version: string
  works: Record<string, string>
  set?: string
  notes: string[]
  /** Every cell that is not right, by exact version: `none`, or whose fault it is and what was seen. */
  cells: Record<string, Record<string, string>>
}

/** One version of one row, as it was seen now. */
export interface Seen {
  row: Row
  of: Version
  version: string
  works: Record<string, Cell>
}

const file = new URL('results.json', import.meta.url)

export async function readResults(): Promise<Results> {
  return JSON.parse(await readFile(file, 'utf8'))
}

export async function writeResults(results: Results): Promise<void> {
  await writeFile(file, `${JSON.stringify(results, null, 2)}\n`)
  execFileSync('biome', ['format', '--write', '--log-level=none', fileURLToPath(file)], { stdio: 'ignore' })
}

/** Returns the cells with the reason of each wrong one. The ones without a reason are in `unexplained`. */
export function explain(row: Row, of: Version, version: string, cells: Cells, faults: readonly Fault[]) {
  const unexplained: string[] = []
  const used = new Set<Fault>()
  const works: Seen['works'] = {}
  for (const [scenario, seen] of Object.entries(cells)) {
    const fault = faults.find((one) => matches(one, row, of, scenario))
    if (seen === 'right' || seen === 'none') works[scenario] = seen
    else if (fault === undefined) unexplained.push(`${row.name} ${version}, ${scenario}: ${seen}`)
    else {
      used.add(fault)
      works[scenario] = { seen, fault }
    }
  }
  const seen: Seen = { row, of, version, works }
  return { seen, unexplained, used }
}

function matches({ rows, version, scenarios }: Fault, row: Row, of: Version, scenario: string): boolean {
  const isRow = rows === 'all' || rows.includes(row.name)
  return isRow && scenarios.includes(scenario) && (version === undefined || version === of)
}

/** Returns the cells that are not as they were stored. */
export function changes(before: Results, now: readonly Seen[]): string[] {
  return now.flatMap(({ row, version, works }) => {
    const cells = before.rows.find(({ name }) => name === row.name)?.cells[version]
    return Object.entries(works).flatMap(([scenario, cell]) => {
      const isTried = cells !== undefined && before.scenarios.includes(scenario)
      const was = isTried ? (cells[scenario] ?? 'right') : 'not tried'
      return was === textOf(cell) ? [] : [`${row.name} ${version}, ${scenario}: ${was} → ${textOf(cell)}`]
    })
  })
}

function textOf(cell: Cell): string {
  return typeof cell === 'object' ? `${cell.fault.whose}: ${cell.seen}` : cell
}

/** Returns the rows to store: all versions of a name in one. */
export function toRows(seen: readonly Seen[], groups: Record<string, readonly string[]>): StoredRow[] {
  return [...new Set(seen.map(({ row }) => row.name))].map((name) => {
    const versions = seen.filter(({ row }) => row.name === name)
    const { package: packageName, set } = (versions[0] as Seen).row
    const works = Object.fromEntries(
      Object.entries(groups).map(([group, scenarios]) => [
        group,
        summary(versions.map((one) => scenarios.map((each) => one.works[each] ?? 'none'))),
      ]),
    )
    const cells = Object.fromEntries(versions.map(({ version, works: all }) => [version, wrongCells(all)]))
    const version = `${packageName} ${versions.map((one) => one.version).join(' / ')}`
    return { name, version, works, ...(set !== undefined && { set }), notes: notesOf(versions), cells }
  })
}

function wrongCells(works: Seen['works']): Record<string, string> {
  const wrong = Object.entries(works).filter(([, cell]) => cell !== 'right')
  return Object.fromEntries(wrong.map(([scenario, cell]) => [scenario, textOf(cell)]))
}

/** `yes` if all cells of all versions are right, `none` if the format has nothing of it, `no` if nothing is right. */
function summary(versions: Cell[][]): string {
  const cells = versions.flat().filter((cell) => cell !== 'none')
  if (cells.length === 0) return 'none'
  const right = cells.filter((cell) => cell === 'right').length
  if (right === cells.length) return 'yes'
  return right === 0 ? 'no' : 'partly'
}

function notesOf(versions: Seen[]): string[] {
  const notes = new Map<string, Set<string>>()
  for (const { version, works } of versions)
    for (const cell of Object.values(works))
      if (typeof cell === 'object') notes.set(cell.fault.note, (notes.get(cell.fault.note) ?? new Set()).add(version))
  return [...notes].map(([note, of]) => (of.size === versions.length ? note : `${[...of].join(', ')}: ${note}`))
}
