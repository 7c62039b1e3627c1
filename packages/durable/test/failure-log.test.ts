import { Agent, type Middleware, type Model } from '@allium/core'
import { persist } from '@allium/memory'
import { sqlite } from '@allium/store-sqlite'
import { scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import { durable } from '../src/index.ts'

const principal = { tenantId: 'acme', userId: 'ann' }
const unavailable: Model = {
  id: 'm',
  // biome-ignore lint/correctness/useYield: it fails before its first chunk
  async *stream() {
    throw Object.assign(new Error('overloaded by "my secret"'), { status: 503 })
  },
}
const broken: Middleware = {
  name: 'broken',
  turn() {
    throw new TypeError('no such thing: my secret')
  },
}

it.each([
  ['an error of a layer', scriptedModel(['Done.']), [broken], { code: 'run.failed', cause: 'TypeError' }],
  ['an unavailable model', unavailable, [], { code: 'model.failed', cause: 'Error', status: 503 }],
] as const)(
  'logs %s at level error without its message, and operators see a code',
  async (_, model, layers, logged) => {
    const lines: [string, Record<string, unknown>][] = []
    const logger = { warn() {}, error: (text: string, fields = {}) => void lines.push([text, fields]) }
    const store = sqlite(':memory:')
    const agent = new Agent({ version: '1', model, logger }).use(persist({ store: store.sessions }))
    for (const layer of layers) agent.use(layer)
    const runs = durable(agent, { store, logger })
    const { run } = await runs.start({ principal, sessionId: 'chat', input: 'Go.' })
    for await (const _ of runs.attach(run, { principal }));
    expect(lines).toMatchObject([[`The durable run "${run}" failed.`, { run, ...logged }]])
    expect(String(lines[0]?.[1].at)).toMatch(/failure-log\.test\.ts/)
    expect(JSON.stringify(lines)).not.toContain('secret')
    const { items } = await store.operations.list({ limit: 1 })
    expect(items).toMatchObject([{ status: 'failed', code: logged.code }])
    await runs.drain()
  },
)
