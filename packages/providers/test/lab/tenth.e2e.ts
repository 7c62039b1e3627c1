import { afterAll, beforeAll, expect, it } from 'vitest'
import { faults } from './faults.ts'
import { installPackages, pinnedVersions } from './install.ts'
import { changes, explain, readResults } from './results.ts'
import { installedName, type Row } from './row.ts'
import { rows } from './rows/index.ts'
import { runRow } from './run.ts'
import { startServer } from './server.ts'
import { tenth } from './tenth.ts'

const chosen = tenth.map(([name, of]) => ({ name, of, row: rows.find((one) => one.name === name) as Row }))
let load: Awaited<ReturnType<typeof installPackages>>
let server: Awaited<ReturnType<typeof startServer>>

beforeAll(async () => {
  load = await installPackages(chosen.map(({ row, of }) => installedName(row, of)))
  server = await startServer()
}, 300_000)
afterAll(() => server.close())

it.each(chosen)('$name ($of) answers on its wire format as the table in the docs says', async ({ row, of }) => {
  const version = (await pinnedVersions())[installedName(row, of)] as string
  const { seen, unexplained } = explain(row, of, version, await runRow(row, of, server, load), faults)
  expect([unexplained, changes(await readResults(), [seen])]).toEqual([[], []])
})
