import { Agent, delegate } from '@allium/core'
import { persist } from '@allium/memory'
import { sqlite } from '@allium/store-sqlite'
import { manualClock, scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import { durable } from '../src/index.ts'

const principal = { tenantId: 'acme', userId: 'ann' }

it('denies a call of a sub-agent that was not decided in time', async () => {
  const clock = manualClock()
  const store = sqlite(':memory:', { clock })
  const pay = { name: 'pay', description: 'Pays', jsonSchema: {}, requireApproval: true, execute: () => 'paid' }
  const inside = scriptedModel([{ toolCalls: [{ name: 'pay', callId: 'p1' }] }, 'Nothing was paid.'])
  const clerk = new Agent({ name: 'clerk', model: inside, tools: [pay], clock, approvals: { expiresIn: 3000 } })
  const ask = {
    name: 'ask',
    description: 'Asks',
    jsonSchema: {},
    execute: async (_: unknown, ctx: never) => (await delegate(ctx, clerk, 'Pay'))?.text,
  }
  const model = scriptedModel([{ toolCalls: [{ name: 'ask', callId: 'c1' }] }, 'Done.'])
  const agent = new Agent({ version: '1', model, tools: [ask as never], clock, approvals: { expiresIn: 5000 } })
  const runs = durable(agent.use(persist({ store: store.sessions })), { store, lease: 1000, clock })
  const { run } = await runs.start({ principal, sessionId: 'chat', input: 'Pay' })
  for await (const _ of runs.attach(run, { principal })) void _
  expect((await runs.get(run, { principal })).status).toBe('suspended')
  await clock.advance(6000)
  await runs.recover()
  for (let i = 0; i < 200; i++) await new Promise((resolve) => setImmediate(resolve))
  const { items } = await runs.list({ tenant: 'acme' })
  expect(items.map(({ status }) => status)).toEqual(['completed', 'suspended'])
  expect(JSON.stringify(inside.requests[1]?.messages.at(-1))).toContain('Nobody decided in time.')
  expect(model.requests.length).toBe(2)
  await runs.drain()
  store.close()
})
