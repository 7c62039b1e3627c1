import { Agent, type Middleware } from '@allium/core'
import { memoryStore } from '@allium/store'
import { scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import { persist } from '../src/index.ts'

const of = { id: 'chat', principal: { tenantId: 'acme' } }
const visits: Middleware = {
  name: 'visits',
  state: { visits: { default: 0, reducer: (a: number, b: number) => a + b } },
  async session(ctx, next) {
    await next()
    ctx.state.visits = 1
  },
}
const agentOf = (store: ReturnType<typeof memoryStore>, layers: Middleware[]) =>
  new Agent({ model: scriptedModel(['hello', 'again']) }).use(persist({ store })).use(layers)

it('state that a session layer writes after its next() is there when the session opens again', async () => {
  const store = memoryStore()
  const session = agentOf(store, [visits]).session(of)
  await session.run('hi')
  await session.close()
  const again = agentOf(store, [visits]).session(of)
  await again.open()
  expect(again.state).toMatchObject({ visits: 1 })
  expect(again.history).toHaveLength(2)
})

it('a session that closes as it was is not stored once more', async () => {
  const store = memoryStore()
  const session = agentOf(store, []).session(of)
  await session.run('hi')
  await session.close()
  expect(await store.load({ tenant: 'acme', owner: '', agent: 'agent', sessionId: 'chat' })).toMatchObject({
    version: 1,
  })
})

it('close() rejects where another process runs the session, so that what was written is not lost in silence', async () => {
  const store = memoryStore()
  const session = agentOf(store, [visits]).session(of)
  await session.run('hi')
  const lease = await store.acquire({ tenant: 'acme', owner: '', agent: 'agent', sessionId: 'chat' }, 30_000)
  await expect(session.close()).rejects.toMatchObject({ code: 'session.busy' })
  expect(lease).toBeDefined()
})
