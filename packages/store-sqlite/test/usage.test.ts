import { Agent } from '@allium/core'
import { persist } from '@allium/memory'
import { manualClock, scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import { sqlite } from '../src/index.ts'

const used = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
const day = 24 * 3_600_000

it('usage() reports what a tenant has used by day, and nothing of others', async () => {
  const clock = manualClock()
  const store = sqlite(':memory:', { clock })
  const model = scriptedModel(['a', 'b', { text: 'cut', usage: undefined }, 'c', 'd'])
  const agent = new Agent({ model, clock }).use(persist({ store: store.sessions }))
  const run = (tenantId: string, id: string) => agent.session({ id, principal: { tenantId } }).run('hi')
  const first = new Date(clock.now()).toISOString().slice(0, 10)
  await run('acme', 'one')
  await run('acme', 'two')
  await run('globex', 'one')
  await clock.advance(day)
  await run('acme', 'one')
  const days = await store.usage({ tenant: 'acme' })
  expect(days.map(({ day, runs, estimated }) => [day, runs, estimated])).toEqual([
    [first, 2, false],
    [new Date(clock.now()).toISOString().slice(0, 10), 1, false],
  ])
  expect(days[0]?.usage).toEqual({ ...used, inputTokens: 20, outputTokens: 10, calls: 2 })
  expect(await store.usage({ tenant: 'acme', from: clock.now() })).toEqual([days[1]])
  expect(await store.usage({ tenant: 'acme', to: clock.now() })).toEqual([days[0]])
  expect(await store.usage({ tenant: '%' })).toEqual([])
  await expect(store.usage({ tenant: 'acme', from: Number.NaN })).rejects.toMatchObject({ code: 'store.key' })
  store.close()
})
