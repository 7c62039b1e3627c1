import { Agent } from '@allium/core'
import { persist } from '@allium/memory'
import { sqlite } from '@allium/store-sqlite'
import { manualClock, scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import { durable } from '../src/index.ts'

const principal = { tenantId: 'acme', userId: 'ann' }

/** Lets everything come to rest that needs no time. */
async function rest(): Promise<void> {
  for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve))
}

it('does not count processes that drained within one slow step as crashes of the run', async () => {
  const clock = manualClock()
  const store = sqlite(':memory:', { clock })
  const process = (steps: Parameters<typeof scriptedModel>[0]) => {
    const agent = new Agent({ version: '1', name: 'agent', model: scriptedModel(steps), clock })
    return durable(agent.use(persist({ store: store.sessions })), { store, lease: 1000, clock })
  }
  let runs = process([{ stall: true }])
  const { run } = await runs.start({ principal, sessionId: 'chat', input: 'Hi' })
  await rest()
  for (let deploy = 1; deploy <= 10; deploy++) {
    const drained = runs.drain({ timeout: 100 })
    await rest()
    await clock.advance(101)
    await drained
    runs = process(deploy === 10 ? ['Hello.'] : [{ stall: true }])
    expect([deploy, await runs.recover()]).toEqual([deploy, 1])
    await rest()
  }
  for await (const _ of runs.attach(run, { principal })) void _
  expect(await runs.get(run, { principal })).toMatchObject({ status: 'completed', text: 'Hello.' })
  await runs.drain()
  store.close()
})
