import { Agent, type Model } from '@allium/core'
import { persist } from '@allium/memory'
import { recall } from '@allium/memory/recall'
import { working, workingMemory } from '@allium/memory/working'
import { sqlite } from '@allium/store-sqlite'
import { manualClock, type ScriptedStep, scriptedModel } from '@allium/testing'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { durable } from '../src/index.ts'

const principal = { tenantId: 'acme', userId: 'ann' }
const ann = { tenant: 'acme', owner: 'ann' }
const schema = z.object({ name: z.string().optional(), diet: z.string().optional() })
const remember = (callId: string, set: object): ScriptedStep => ({
  toolCalls: [{ name: 'update_memory', callId, args: { set } }],
})

it('stores nothing of a run that began before memory was switched off, and that another process finishes', async () => {
  const clock = manualClock()
  const store = sqlite(':memory:', { clock })
  const { sessions, passages } = store
  const process = (model: Model, own = clock) => {
    const layers = [
      persist({ store: sessions }),
      recall({ store: passages }),
      working({ schema, store: sessions, passages }),
    ]
    const agent = new Agent({ version: '1', name: 'agent', model, clock: own }).use(layers)
    return durable(agent, { store, lease: 1000, clock: own, logger: { warn() {}, error() {} } })
  }
  const remembered = workingMemory({ store: sessions, agent: 'agent' })

  const lost = scriptedModel([remember('c1', { name: 'Ann' }), { stall: true }])
  const { run } = await process(lost, manualClock()).start({ principal, sessionId: 'chat', input: 'I am Ann.' })
  await expect.poll(() => lost.requests.length).toBe(2)
  await passages.setOff(ann, clock.now())
  await clock.advance(1500)

  const next = process(scriptedModel([remember('c2', { diet: 'vegan' }), 'Hello.']))
  onTestFinished(() => next.drain())
  await next.recover()
  for await (const _ of next.attach(run, { principal }));
  expect(await next.get(run, { principal })).toMatchObject({ status: 'completed', text: 'Hello.' })
  expect((await remembered.read(ann)).block).toEqual({ name: 'Ann' })
  expect((await passages.count({ ...ann, agent: 'agent' })).passages).toBe(0)
  await passages.setOff(ann, undefined)
  expect(await passages.key(ann)).toBeUndefined()
})
