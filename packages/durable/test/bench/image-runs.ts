import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, type Model, type Part, toolResult } from '@allium/core'
import { persist } from '@allium/memory'
import { type SqliteStore, sqlite } from '@allium/store-sqlite'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { postgres } from '../../../store-postgres/src/index.ts'
import { imageOf, type Taken, took } from '../../../store-postgres/test/bench/images.ts'
import { anyServer } from '../../../store-postgres/test/server.ts'
import { durable } from '../../src/index.ts'
import { printMissed } from './missed.ts'

/**
 * The cost of a durable run with an image, in the input, from a tool or from the model: the second table of `npm run bench -- durable`. A
 * separate process keeps the heap small. The event loop must never be blocked for longer than 50 ms. The best round counts, because other
 * load on the machine only adds to the time.
 */
const size = 8_000_000
const rounds = 5
const kinds = ['no image', 'in the input', 'from a tool', 'from the model'] as const
const lines: string[] = []
const missed: string[] = []

const folder = mkdtempSync(join(tmpdir(), 'allium-bench-'))
const file = sqlite(join(folder, 'images'))
await tell('SQLite, synchronous = full', file)
file.close()
rmSync(folder, { recursive: true, force: true })

const server = await anyServer()
if (server !== undefined) {
  const store = postgres({ url: server.url, schema: `bench_images_${process.pid}` })
  await store.ready()
  await tell('Postgres', store)
  await store.close()
  await server.end()
}
const heads = ['a durable run with an image of 8 MB', 'image', 'CPU, ms', 'longest hold, ms', 'met']
console.log(`\n| ${heads.join(' | ')} |\n|${'---|'.repeat(heads.length)}\n${lines.join('\n')}`)
printMissed('images', missed)
process.exit(missed.length === 0 ? 0 : 1)

async function tell(name: string, store: Stores): Promise<void> {
  for (const kind of kinds) {
    const all: Taken[] = []
    // The first warms up.
    for (let round = 0; round <= rounds; round++) all.push(await runWith(store, kind, `${kind} ${round}`))
    const best = (what: keyof Taken) => Math.min(...all.slice(1).map((taken) => taken[what]))
    if (best('held') > 50) missed.push(`a durable run with an image of 8 MB, ${name}, ${kind}`)
    const cells = [name, kind, best('cpu').toFixed(0), `${best('held').toFixed(0)} (≤ 50)`]
    lines.push(`| ${cells.join(' | ')} | ${best('held') <= 50 ? 'yes' : 'NO'} |`)
  }
}

type Stores = Pick<SqliteStore, 'sessions' | 'runs' | 'events'>

/** A run in a session of its own, from its start until its reader has its end. */
async function runWith(store: Stores, kind: (typeof kinds)[number], sessionId: string): Promise<Taken> {
  const image = { type: 'file' as const, data: imageOf(size), mediaType: 'image/png' }
  const steps: Record<typeof kind, ScriptedStep[]> = {
    'no image': ['Done.'],
    'in the input': ['Done.'],
    'from a tool': [{ toolCalls: [{ name: 'look' }] }, 'Done.'],
    'from the model': [{ chunks: [image, 'Done.'] }],
  }
  const execute = () => toolResult({ content: [image] })
  const look = { name: 'look', description: 'Looks', jsonSchema: { type: 'object' }, execute }
  // The scripted model copies what it is asked.
  const { id, stream } = scriptedModel(steps[kind])
  const model: Model = { id, stream: (request) => stream({ ...request, messages: [] }) }
  const agent = new Agent({ version: '1', model, tools: [look as never], logger: { warn() {}, error: console.error } })
  const runs = durable(agent.use(persist({ store: store.sessions })) as Agent, { store })
  const content: Part[] = kind === 'in the input' ? [image] : [{ type: 'text', text: 'Hi' }]
  const taken = await took(async () => {
    const { run } = await runs.start({ sessionId, input: { role: 'user', content } })
    for await (const _ of runs.attach(run, {}));
    const { status } = await runs.get(run, {})
    if (status !== 'completed') throw new Error(`A run was ${status}.`)
  })
  await runs.drain()
  return taken
}
