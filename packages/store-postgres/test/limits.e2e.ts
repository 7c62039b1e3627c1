import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { storesAt } from './schemas.ts'
import { anyServer } from './server.ts'

const server = await anyServer()
const url = server?.url ?? ''
const stores = storesAt(url)
afterAll(async () => {
  await stores.end()
  await server?.end()
})

/** A process that runs turns at once, each in a session of its own, and tells how many were let through. */
async function race(schema: string, name: string, { turns, layer }: { turns: number; layer: string }): Promise<number> {
  const program = `import { Agent } from '@allium/core'
    import { budget, rateLimit } from '@allium/guard'
    import { persist } from '@allium/memory'
    import { sharedStore } from '@allium/store'
    import { scriptedModel } from '@allium/testing'
    import { postgres } from '../src/index.ts'
    const store = postgres(${JSON.stringify({ url, schema })})
    const provide = { name: 'store', provides: [sharedStore], async agent(ctx, next) {
      ctx.provide(sharedStore, store)
      await next()
    } }
    const estimate = () => ({ inputTokens: 10, outputTokens: 5 })
    const agent = new Agent({ model: scriptedModel(Array(${turns}).fill('Hi.')), logger: { warn() {}, error() {} } })
      .use(persist({ store: store.sessions })).use(provide).use(${layer})
    const principal = { tenantId: 'acme', userId: 'ann' }
    const runs = Array.from({ length: ${turns} }, (_, i) => agent.session({ id: '${name}-' + i, principal }).run('hi'))
    console.log((await Promise.all(runs)).filter(({ status }) => status === 'completed').length)
    await store.close()`
  const given = ['--conditions=@allium/source', '--import=tsx', '--input-type=module', '-e', program]
  const { stdout } = await promisify(execFile)(process.execPath, given, { cwd: import.meta.dirname })
  return Number(stdout.trim())
}

describe.skipIf(server === undefined)('two processes on Postgres', () => {
  it.each([
    ['budget has room for', 10, 50, `budget({ limit: 150, unit: 'tokens', per: 'tenant', estimate })`],
    ['rate has room for', 10, 50, `rateLimit({ limit: 10, window: 'day', per: 'tenant' })`],
    ['rate in blocks has room for', 60, 80, `rateLimit({ limit: 60, window: 'day', per: 'tenant' })`],
  ])('let exactly as many turns through together as the %s: %i', async (_, room, turns, layer) => {
    const store = stores.fresh()
    await store.ready()
    const schema = stores.schemaOf(store)
    const through = await Promise.all(['a', 'b'].map((name) => race(schema, name, { turns, layer })))
    expect(through[0] as number).toBeLessThanOrEqual(room)
    expect(through.reduce((sum, one) => sum + one)).toBe(room)
  })
})
