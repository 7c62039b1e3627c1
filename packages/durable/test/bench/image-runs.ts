import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Agent, type Model, toolResult } from '@allium/core'
import { persist } from '@allium/memory'
import { type SqliteStore, sqlite } from '@allium/store-sqlite'
import { postgres } from '../../../store-postgres/src/index.ts'
import { anyServer } from '../../../store-postgres/test/server.ts'
import { durable } from '../../src/index.ts'

setFlagsFromString('--expose-gc')
const gc: () => void = runInNewContext('gc')
const size = Number(process.argv[2] ?? 8_000_000)
const kinds = (process.argv[3] ?? 'none,input,generated,tool').split(',')

function imageOf(bytes: number): Uint8Array {
  const data = crypto.getRandomValues(new Uint8Array(1024))
  const image = new Uint8Array(bytes)
  for (let at = 0; at < bytes; at += 1024) image.set(data.subarray(0, bytes - at), at)
  return image
}

async function once(store: Pick<SqliteStore, 'sessions' | 'runs' | 'events'>, kind: string, id: string) {
  const usage = { inputTokens: 1, outputTokens: 1, calls: 1 }
  const image = { mediaType: 'image/png', data: imageOf(size) }
  let calls = 0
  const model: Model = {
    id: 'bench/model',
    async *stream() {
      const n = calls++
      if (kind === 'tool' && n === 0) {
        yield { type: 'tool-input-start', callId: 'c1', name: 'look' } as const
        yield { type: 'tool-input-delta', callId: 'c1', delta: '{}' } as const
        yield { type: 'tool-input-end', callId: 'c1' } as const
        yield { type: 'finish', reason: 'tool-calls', usage } as const
        return
      }
      if (kind === 'generated') yield { type: 'file', ...image } as const
      yield { type: 'text-delta', delta: 'Done.' } as const
      yield { type: 'finish', reason: 'stop', usage } as const
    },
  }
  const look = {
    name: 'look',
    description: 'Looks',
    jsonSchema: { type: 'object' },
    execute: () => toolResult({ content: [{ type: 'file', ...image }] }),
  }
  const agent = new Agent({ model, tools: [look as never], logger: { warn() {}, error: console.error } }).use(
    persist({ store: store.sessions }),
  ) as Agent
  const runs = durable(agent, { store })
  await agent.init()
  const input = kind === 'input' ? { role: 'user' as const, content: [{ type: 'image' as const, ...image }] } : 'Hi'
  const delay = monitorEventLoopDelay({ resolution: 1 })
  gc()
  await setImmediate()
  const begun = process.cpuUsage()
  const at = performance.now()
  delay.enable()
  const { run } = await runs.start({ sessionId: id, input })
  for await (const _ of runs.attach(run, {}));
  const { status } = (await runs.get(run, {})) ?? {}
  delay.disable()
  const { user, system } = process.cpuUsage(begun)
  await runs.drain()
  return { cpu: (user + system) / 1000, held: delay.max / 1e6, ms: performance.now() - at, status }
}

async function tell(name: string, store: Pick<SqliteStore, 'sessions' | 'runs' | 'events'>) {
  for (const kind of kinds) {
    const all: Awaited<ReturnType<typeof once>>[] = []
    for (let i = 0; i < 6; i++) all.push(await once(store, kind, `${kind} ${i}`))
    const best = (what: 'cpu' | 'held' | 'ms') => Math.min(...all.slice(1).map((one) => one[what])).toFixed(0)
    console.log(
      `| ${name} | ${kind} | cpu ${best('cpu')} | held ${best('held')} | wall ${best('ms')} | ${all[0]?.status} |`,
    )
  }
}

const folder = mkdtempSync(join(tmpdir(), 'allium-bench-'))
const file = sqlite(join(folder, 'images'))
await tell('SQLite', file)
file.close()
rmSync(folder, { recursive: true, force: true })
const server = process.argv[4] === 'pg' ? await anyServer() : undefined
if (server !== undefined) {
  const store = postgres({ url: server.url, schema: `bench_images_${process.pid}` })
  await store.ready()
  await tell('Postgres', store)
  await store.close()
  await server.end()
}
process.exit(0)
