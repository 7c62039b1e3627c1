import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './pages.ts'

/** The last results of a lab: a file `results.json` below the tests of a package. */
interface Results {
  title: string
  /** What was tried, and what the columns mean. */
  about?: string
  date: string
  /** What it ran on. */
  versions: Record<string, string>
  rows: readonly ResultRow[]
}
export interface ResultRow {
  name: string
  version: string
  /** `yes`, `partly`, `no`, `none` or a short text, by column. */
  works: Record<string, string>
  /** What to set. */
  set?: string
  notes: readonly string[]
}

const head = `# Compatibility

Allium is tested with the packages, servers and tools on this page. Each table has the versions that were tried and the date of the last test. *partly* and *no* are explained in the last column, together with the settings that you need.
The tables are generated from the stored results of the tests. CI fails if a table differs from them.
`

/** The order of the tables. Others follow by their titles. */
const titles = [
  'Model providers',
  'Schema libraries',
  'MCP servers',
  'Front ends',
  'Proxies',
  'Databases',
  'Tracing tools',
]

/** The page docs/guide/compatibility.md. */
export function compatibilityPage(results: readonly Results[] = storedResults()): string {
  const place = ({ title }: Results) =>
    (titles.indexOf(title) + 1 || titles.length + 1).toString().padStart(2, '0') + title
  const sorted = [...results].sort((one, other) => place(one).localeCompare(place(other)))
  return [head, ...sorted.map(section)].join('\n')
}

/** Returns the results of all labs. */
export function storedResults(): Results[] {
  return readdirSync(join(root, 'packages')).flatMap((name) => resultsBelow(join(root, 'packages', name, 'test')))
}

function resultsBelow(folder: string): Results[] {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: false })
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : resultsBelow(path)
    return entry.name === 'results.json' ? [JSON.parse(readFileSync(path, 'utf8')) as Results] : []
  })
}

function section({ title, about, date, versions, rows }: Results): string {
  const columns = [...new Set(rows.flatMap(({ works }) => Object.keys(works)))]
  const on = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [
    `## ${title}`,
    '',
    ...(about === undefined ? [] : [about, '']),
    `Last test: ${[date, ...on].join(', ')}.`,
    '',
    line(['', 'version', ...columns, 'what to set, and known faults']),
    `|${'---|'.repeat(columns.length + 3)}`,
    ...rows.map(({ name, version, works, set, notes }) => {
      const advice = [set, ...notes]
        .filter((text) => text !== undefined)
        .map((text) => (/[.!?]$/.test(text) ? text : `${text}.`))
      return line([name, version, ...columns.map((column) => mark(works[column])), advice.join(' ')])
    }),
    '',
  ].join('\n')
}

function mark(works: string | undefined): string {
  return works === undefined || works === 'none' ? '–' : works
}
