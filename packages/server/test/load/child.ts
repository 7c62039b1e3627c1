import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import { Agent } from '@allium/core'
import { persist } from '@allium/memory'
import { memoryEventLog, memoryStore } from '@allium/store'
import { redis } from '@allium/store-redis'
import { serve as serveHono } from '@hono/node-server'
import { Hono } from 'hono'
import { streamSSE } from 'hono/streaming'
import { server } from '../../src/index.ts'
import { serve } from '../../src/node.ts'
import { mockModel, textsOf } from './mock-model.ts'

/** All that is asked here is asked by one user. */
const one = { total: 10_000, perTenant: 10_000, perUser: 10_000 }
const limits = { requests: one, runs: one, streams: one }

/** What a process under load tells of itself. */
export interface Taken {
  /** Microseconds of all threads. */
  cpu: number
  /** Milliseconds: 99 of 100 turns of the event loop took less, with the 10 between two looks. */
  delay: number
  /** Bytes, after a collection. */
  memory: number
}

const [kind = 'bare', redisUrl = ''] = process.argv.slice(2)
const histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: 10 })

process.on('SIGINT', () => process.exit(0))
process.on('message', (asked: 'reset' | 'take') => {
  if (asked === 'reset') histogram.reset()
  process.send?.(take())
})
process.send?.({ url: kind === 'bare' ? await bare() : await allium() })
histogram.enable()

function take(): Taken {
  globalThis.gc?.()
  const { user, system } = process.cpuUsage()
  const { heapUsed, external } = process.memoryUsage()
  return { cpu: user + system, delay: histogram.percentile(99) / 1e6, memory: heapUsed + external }
}

/** Hono and a generator: who asks gets each text as an event. */
async function bare(): Promise<string> {
  const app = new Hono()
  app.post('/sessions/:id/runs', async (c) => {
    const { input } = await c.req.json()
    return streamSSE(c, async (stream) => {
      let id = 0
      for await (const delta of textsOf(input))
        await stream.writeSSE({
          id: String(++id),
          event: 'text-delta',
          data: JSON.stringify({ type: 'text-delta', delta }),
        })
      await stream.writeSSE({ event: 'turn:end', data: '{"type":"turn:end","status":"completed"}' })
    })
  })
  return new Promise((resolve) => {
    serveHono({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => resolve(`http://127.0.0.1:${port}`))
  })
}

async function allium(): Promise<string> {
  const sessions = memoryStore()
  const agent = new Agent({ model: mockModel }).use(persist({ store: sessions }))
  const events = kind === 'redis' ? redis(redisUrl).events : memoryEventLog()
  const app = server(agent, { sessions, events, limits, principal: () => ({ tenantId: 'acme', userId: 'ann' }) })
  return (await serve(app, { port: 0, signals: false })).url
}
