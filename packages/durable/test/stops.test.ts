import { Agent } from '@allium/core'
import { persist } from '@allium/memory'
import { audit, verify } from '@allium/observe'
import { sqlite } from '@allium/store-sqlite'
import { manualClock, scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import { durable } from '../src/index.ts'

const logger = { warn() {}, error() {} }
const principal = { tenantId: 'acme', userId: 'ann' }

it('a run that is stopped has its end in the audit chain, once', async () => {
  const clock = manualClock()
  const store = sqlite(':memory:', { clock })
  const model = scriptedModel([{ stall: true }])
  const agent = new Agent({ version: '1', model, clock })
    .use(persist({ store: store.sessions }))
    .use(audit({ sink: store.audit }))
  const runs = durable(agent, { store, clock })
  const { run } = await runs.start({ principal, sessionId: 'chat', input: 'Hi' })
  await expect.poll(() => model.requests.length).toBe(1)
  await runs.stop(run, { principal })
  for await (const _ of runs.attach(run, { principal }));
  await runs.drain()
  const records: { type: string; status?: string }[] = []
  for await (const line of store.audit.chainOf('acme').lines()) records.push(JSON.parse(line))
  const ends = records.filter(({ type }) => type === 'turn:end')
  expect(ends).toMatchObject([{ status: 'aborted' }])
  expect(await verify(store.audit.chainOf('acme'))).toMatchObject({ ok: true })
})

it('a run that is stopped starts no further call, also not one inside the once of a layer', async () => {
  const store = sqlite(':memory:')
  const [model, helper] = [scriptedModel([{ stall: true }]), scriptedModel(['Never.'])]
  const done: string[] = []
  const agent = new Agent({ version: '1', model, logger }).use(persist({ store: store.sessions })).use({
    name: 'sums-up',
    turn(ctx, next) {
      ctx.onEnd(() => ctx.once('note', () => void done.push('noted')))
      ctx.onEnd(() => ctx.once('sum', (inner) => new Agent({ model: helper }).run('Sum up.', inner).then(() => {})))
      return next()
    },
  })
  const runs = durable(agent, { store, logger })
  const { run } = await runs.start({ principal, sessionId: 'chat', input: 'Hi' })
  await expect.poll(() => model.requests.length).toBe(1)
  await runs.stop(run, { principal })
  for await (const _ of runs.attach(run, { principal }));
  await runs.drain()
  expect([done, helper.requests.length]).toEqual([['noted'], 0])
})
