import { parseArgs } from 'node:util'
import { faults } from './faults.ts'
import { installPackages, pinnedVersions } from './install.ts'
import { changes, explain, readResults, type StoredRow, tableOf, writeResults } from './results.ts'
import { installedName, type Row, type Version } from './row.ts'
import { rows } from './rows/index.ts'
import { runRow } from './run.ts'
import { scenarios } from './scenarios/index.ts'
import { startServer } from './server.ts'

/**
 * `npm run providers`: asks every package of the lab, prints the table, and fails where a cell differs from results.json or is wrong for
 * no reason in faults.ts. `-- --update` writes results.json; `-- --row TEXT` and `-- --scenario NAME` run a part.
 */
const { values } = parseArgs({
  options: { update: { type: 'boolean' }, row: { type: 'string' }, scenario: { type: 'string' } },
})
const load = await installPackages()
const versions = await pinnedVersions()
const server = await startServer()
const jobs = rows
  .filter(({ name }) => values.row === undefined || name.includes(values.row))
  .flatMap((row) => (row.versions ?? (['newest', 'node20'] as const)).map((of): [Row, Version] => [row, of]))
const stored: StoredRow[] = []
const unexplained: string[] = []
for (const [row, of] of jobs) {
  process.stderr.write(`${row.name} ${of}\n`)
  const cells = await runRow(row, of, server, load, (name) => values.scenario === undefined || name === values.scenario)
  const explained = explain(row, of, versions[installedName(row, of)] ?? 'not pinned', cells, faults)
  stored.push(explained.stored)
  unexplained.push(...explained.unexplained)
}
server.close()

const names = scenarios.map(({ name }) => name)
console.log(
  tableOf(
    stored,
    names.filter((name) => values.scenario === undefined || name === values.scenario),
  ),
)
const count = (letter: RegExp) =>
  stored.flatMap(({ works }) => Object.values(works)).filter((cell) => letter.test(JSON.stringify(cell))).length
console.log(
  `\n${stored.length} packages × ${names.length} scenarios: ${count(/^"right"/)} right, ${count(/^"none"/)} without such a thing, ${count(/"whose":"package"/)} faults of packages (p), ${count(/"whose":"allium"/)} faults of Allium (A), ${unexplained.length} unexplained (?).`,
)
for (const one of unexplained) console.log(`unexplained: ${one}`)
const node = process.versions.node
if (values.update && values.row === undefined && values.scenario === undefined)
  await writeResults({ date: new Date().toISOString().slice(0, 10), versions: { node }, rows: stored })
const changed = values.update ? [] : changes(await readResults(), stored)
for (const one of changed) console.log(`changed: ${one}`)
if (changed.length > 0 || unexplained.length > 0) process.exitCode = 1
