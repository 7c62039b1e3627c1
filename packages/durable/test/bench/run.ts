import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { printMissed } from './missed.ts'
import { calls, inPostgres, inRestate, inSqlite, type Side, steps, unrecorded } from './sides.ts'

/**
 * What a recorded step costs: `npm run bench -- durable`. What a long turn takes above a short one, above the same without a journal;
 * one turn at a time, medians of rounds in which all take their turn.
 */
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '15' } } })
const most = 0.5
const folder = mkdtempSync(join(tmpdir(), 'allium-bench-'))
const sides = [unrecorded, inSqlite(folder), await inPostgres(), await inRestate()].filter((side) => side !== undefined)
const [direct = 0, ...rest] = await medians(sides)
const costs = rest.map((more) => (more - direct) / steps)
const restate = costs.at(-1) ?? 0
const missed: string[] = []
const lines = costs.map((cost, i) => {
  const isOurs = i < costs.length - 1
  if (isOurs && cost > most * restate) missed.push(`each of ${steps} recorded steps, ${sides[i + 1]?.name}`)
  const beside = isOurs ? `${(cost / restate).toFixed(2)} (≤ ${most}) | ${cost <= most * restate ? 'yes' : 'NO'}` : '|'
  return `| ${sides[i + 1]?.name} | ${cost.toFixed(2)} | ${beside} |`
})
console.log(`| each of ${steps} recorded steps | ms | beside Restate | met |\n|---|---|---|---|\n${lines.join('\n')}`)
printMissed('steps', missed)
let isMet = missed.length === 0
if (sides.length < 4) console.log('1 skipped: there is no Postgres for this machine.')
for (const side of sides) await side.end()
rmSync(folder, { recursive: true, force: true })
for (const name of ['answers.ts', 'image-runs.ts', 'waiting-claims.ts', 'backlog.ts']) {
  const page = new URL(name, import.meta.url).pathname
  const { status } = spawnSync(process.execPath, [...process.execArgv, page], { stdio: 'inherit' })
  isMet &&= status === 0
}
process.exit(isMet ? 0 : 1)

/** By how many milliseconds a long turn is longer. */
async function medians(sides: readonly Side[]): Promise<number[]> {
  const times = sides.map(() => ({ short: [] as number[], long: [] as number[] }))
  for (let round = 0; round <= Number(values.rounds); round++)
    for (const [i, side] of sides.entries())
      for (const size of ['short', 'long'] as const) {
        const began = performance.now()
        await side.turn(`${size} ${round}`, calls[size])
        // The first warms up.
        if (round > 0) times[i]?.[size].push(performance.now() - began)
      }
  return times.map(({ short, long }) => median(long) - median(short))
}

function median(all: number[]): number {
  return all.sort((a, b) => a - b)[all.length >> 1] ?? 0
}
