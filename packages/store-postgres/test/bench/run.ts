import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { memoryLedger, memoryStore } from '@allium/store'
import { sqlite } from '@allium/store-sqlite'
import { postgres } from '../../src/index.ts'
import { anyServer } from '../server.ts'
import { type Kept, turnsPerSecond } from './turns.ts'

/**
 * What it costs to keep sessions: `npm run bench -- stores`. Turns a second, medians of rounds in which all take their turn. How
 * many statements a turn is, postgres.e2e.ts holds.
 */
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '7' } } })
const folder = mkdtempSync(join(tmpdir(), 'allium-bench-'))
const lines: string[] = []
let isMet = true

const files = (['full', 'normal'] as const).map((synchronous) => sqlite(join(folder, synchronous), { synchronous }))
const [memory = 0, full = 0, normal = 0] = await medians(
  [{ sessions: memoryStore(), ledger: memoryLedger() }, ...files].map((store) => ({ store, tenants: 400 })),
)
tell('memory', memory)
tell('SQLite, synchronous = full', full, { of: memory, least: 0.2 })
tell('SQLite, synchronous = normal', normal, { of: memory, least: 0.2 })
for (const file of files) file.close()
rmSync(folder, { recursive: true, force: true })

const server = await anyServer()
if (server !== undefined) {
  const store = postgres({ url: server.url, schema: `bench_${process.pid}` })
  await store.ready()
  const [many = 0, one = 0] = await medians([400, 1].map((tenants) => ({ store, tenants })))
  tell('Postgres, 400 tenants', many)
  tell('Postgres, one tenant', one, { of: many, least: 0.8 })
  await store.close()
  await server.end()
}
console.log(
  `| turns of one call with a budget, 50 at once | a second | ratio | met |\n|---|---|---|---|\n${lines.join('\n')}`,
)
if (server === undefined) console.log('1 skipped: there is no Postgres for this machine.')
const page = new URL('image-turns.ts', import.meta.url).pathname
const { status } = spawnSync(process.execPath, [...process.execArgv, page], { stdio: 'inherit' })
isMet &&= status === 0
process.exit(isMet ? 0 : 1)

async function medians(sides: readonly { store: Kept; tenants: number }[]): Promise<number[]> {
  const rates = sides.map((): number[] => [])
  for (let round = 0; round <= Number(values.rounds); round++)
    for (const [i, { store, tenants }] of sides.entries()) {
      const rate = await turnsPerSecond(store, tenants, round)
      // The first warms up.
      if (round > 0) rates[i]?.push(rate)
    }
  return rates.map((all) => all.sort((a, b) => a - b)[all.length >> 1] ?? 0)
}

function tell(name: string, rate: number, ratio?: { of: number; least: number }): void {
  const found = ratio === undefined ? undefined : rate / ratio.of
  const met = ratio === undefined || found === undefined ? '' : found >= ratio.least ? 'yes' : 'NO'
  isMet &&= met !== 'NO'
  const of = ratio === undefined ? '' : `${found?.toFixed(2)} (≥ ${ratio.least})`
  lines.push(`| ${name} | ${Math.round(rate)} | ${of} | ${met} |`)
}
