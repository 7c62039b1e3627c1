import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Agent } from '@allium/core'
import { persist } from '@allium/memory'
import { type SqliteStore, sqlite } from '@allium/store-sqlite'
import { scriptedModel } from '@allium/testing'
import { postgres } from '../../../store-postgres/src/index.ts'
import { anyServer } from '../../../store-postgres/test/server.ts'
import { durable } from '../../src/index.ts'
import { restateBacklog } from './backlog-restate.ts'
import { printMissed } from './missed.ts'

/**
 * How long a backlog takes: the last table of `npm run bench -- durable`. All runs wait before the first process starts. The ideal is the
 * time that the models alone take with the same number of runs at once. The best round counts, because other load on the machine only adds to
 * the time.
 */
const { values } = parseArgs({
  options: { runs: { type: 'string', default: '2000' }, duration: { type: 'string', default: '1000' } },
})
const [count, duration] = [Number(values.runs), Number(values.duration)]
const places = 100
const rounds = 3
const most = 1.5
const ideal = (count / places) * duration
const lines: string[] = []
const missed: string[] = []

const folder = mkdtempSync(join(tmpdir(), 'allium-bench-'))
const server = await anyServer()
for (const processes of [1, 2]) {
  await tell('SQLite, synchronous = full', processes, (round) => {
    const path = join(folder, `backlog-${processes}-${round}.db`)
    return { store: sqlite(path), place: { kind: 'sqlite', path } }
  })
  if (server === undefined) continue
  const { url } = server
  await tell('Postgres', processes, (round) => {
    const schema = `bench_backlog_${processes}_${round}_${process.pid}`
    return { store: postgres({ url, schema }), place: { kind: 'postgres', url, schema } }
  })
}
rmSync(folder, { recursive: true, force: true })
await server?.end()
let restate = Number.POSITIVE_INFINITY
for (let round = 0; round < rounds && restate > most * ideal; round++)
  restate = Math.min(restate, await restateBacklog(count, { duration, places }))
lines.push(
  `| Restate, 100 invocations at once in the server | 1 | ${(restate / 1000).toFixed(1)} | ${(restate / ideal).toFixed(2)} | |`,
)
const heads = [`${count} runs of ${duration} ms, ${places} at once`, 'processes', 's', 'beside the ideal', 'met']
console.log(`\n| ${heads.join(' | ')} |\n|${'---|'.repeat(heads.length)}\n${lines.join('\n')}`)
printMissed('backlog', missed)
process.exit(missed.length === 0 ? 0 : 1)

type Store = Pick<SqliteStore, 'sessions' | 'runs' | 'events'> & { close(): unknown }

interface Stored {
  readonly store: Store
  readonly place: object
}

async function tell(name: string, processes: number, open: (round: number) => Stored): Promise<void> {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds && best > most * ideal; round++)
    best = Math.min(best, await timeOf(open(round), processes))
  if (best > most * ideal)
    missed.push(`${count} runs of ${duration} ms, ${name}, ${processes} ${processes === 1 ? 'process' : 'processes'}`)
  const beside = `${(best / ideal).toFixed(2)} (≤ ${most})`
  lines.push(
    `| ${name} | ${processes} | ${(best / 1000).toFixed(1)} | ${beside} | ${best <= most * ideal ? 'yes' : 'NO'} |`,
  )
}

/** Returns how many milliseconds the processes take for the backlog. */
async function timeOf({ store, place }: Stored, processes: number): Promise<number> {
  const agent = new Agent({ version: '1', model: scriptedModel([]) }).use(persist({ store: store.sessions }))
  const feeder = durable(agent as Agent, { store })
  // It starts nothing itself.
  await feeder.drain()
  for (let i = 0; i < count; i += 50)
    await Promise.all(Array.from({ length: 50 }, (_, j) => feeder.start({ sessionId: `s${i + j}`, input: 'Go' })))
  const workers = await Promise.all(Array.from({ length: processes }, () => ready(place, places / processes)))
  const began = performance.now()
  for (const worker of workers) worker.send('go')
  while (await isWaiting(store)) await sleep(50)
  const took = performance.now() - began
  for (const worker of workers) {
    worker.send('stop')
    await once(worker, 'exit')
  }
  await store.close()
  return took
}

async function ready(place: object, concurrency: number): Promise<ChildProcess> {
  const page = new URL('backlog-worker.ts', import.meta.url).pathname
  const worker = fork(page, [JSON.stringify({ ...place, concurrency, duration })], { execArgv: process.execArgv })
  await once(worker, 'message')
  return worker
}

async function isWaiting(store: Store): Promise<boolean> {
  for (const status of ['queued', 'running'] as const)
    if ((await store.runs.list({ tenant: '', status, limit: 1 })).items.length > 0) return true
  return false
}
