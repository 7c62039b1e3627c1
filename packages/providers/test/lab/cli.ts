import { parseArgs } from 'node:util'
import { type Fault, faults } from './faults.ts'
import { installPackages, pinnedVersions } from './install.ts'
import { changes, explain, readResults, type Seen, toRows, writeResults } from './results.ts'
import { bothVersions, installedName } from './row.ts'
import { rows } from './rows/index.ts'
import { runRow } from './run.ts'
import { groups, scenarios } from './scenarios/index.ts'
import { startServer } from './server.ts'
import { tableOf } from './table.ts'

const about =
  'Each package runs in its newest version and in the one that npm installs on Node 20, against a local server that speaks the wire formats of the providers and checks the rules of their APIs. No real provider was asked. `–` means that the API has no such thing. *cut answers* fail as `model.truncated`, and none of their tools run. *errors* keep message and status. *other histories* are sessions that another provider began. *schemas* are those of tools and of `output`.'

/**
 * `npm run providers`: asks every package of the lab and prints the table. It fails where a cell differs from results.json, where a wrong
 * cell has no reason in faults.ts, and where a reason has no wrong cell. `-- --update` writes results.json. `-- --row TEXT` and
 * `-- --scenario NAME` run a part.
 */
const { values } = parseArgs({
  options: { update: { type: 'boolean' }, row: { type: 'string' }, scenario: { type: 'string' } },
})
const isWhole = values.row === undefined && values.scenario === undefined
const names = scenarios
  .map(({ name }) => name)
  .filter((name) => values.scenario === undefined || name === values.scenario)
const load = await installPackages()
const versions = await pinnedVersions()
const server = await startServer()
const seen: Seen[] = []
const unexplained: string[] = []
const unused = new Set<Fault>(faults)
for (const row of rows.filter(({ name }) => values.row === undefined || name.includes(values.row)))
  for (const of of row.versions ?? bothVersions) {
    const cells = await runRow(row, of, server, load, (name) => names.includes(name))
    const explained = explain(row, of, versions[installedName(row, of)] ?? 'not pinned', cells, faults)
    seen.push(explained.seen)
    unexplained.push(...explained.unexplained)
    for (const fault of explained.used) unused.delete(fault)
  }
server.close()
console.log(tableOf(seen, names))

const problems = unexplained.map((one) => `unexplained: ${one}`)
if (isWhole) for (const { rows: of, scenarios: where } of unused) problems.push(`no longer wrong: ${of}, ${where}`)
if (values.update && isWhole) {
  const date = new Date().toISOString().slice(0, 10)
  const all = { node: process.versions.node }
  await writeResults({
    title: 'Model providers',
    about,
    date,
    versions: all,
    scenarios: names,
    rows: toRows(seen, groups),
  })
} else problems.push(...changes(await readResults(), seen).map((one) => `changed: ${one}`))
for (const problem of problems) console.log(problem)
if (problems.length > 0) process.exitCode = 1
