import { Agent, delegate, type ToolContext } from '@allium/core'
import { toEntry } from '@allium/store/event-log'
import { scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import { idleScene, liveScene } from './operations-scene.ts'

const sam = { operator: 'sam', reason: 'ticket 7' }

it('ends a run at once whose process hangs, and fences that process', async () => {
  const { ops, add, claim, store, audited } = idleScene()
  await add('one')
  const [held] = await claim('host-a:1')
  expect(await ops.forceStop('one', sam)).toBe(true)
  expect((await ops.show('one')).run).toMatchObject({ status: 'aborted', code: 'run.force_stopped' })
  if (held === undefined) return expect.fail('It was not claimed.')
  const late = store.runs.record(held.lease, 'one', { id: 'one:model:0:1', body: 'late' })
  await expect(late).rejects.toMatchObject({ code: 'store.fenced' })
  expect(await store.runs.renew([held.lease], 1000)).toEqual([false])
  expect(await ops.forceStop('one')).toBe(false)
  expect(await audited()).toMatchObject([{ type: 'operator:force_stop', turn: 'one', ...sam }])
})

it('frees the session of a run that is ended at once, also of a queued one', async () => {
  const { ops, add, claim } = idleScene()
  const key = { tenant: 'acme', owner: 'ann', agent: 'support', sessionId: 'chat' }
  await add('one', { key })
  await claim()
  await add('two', { key })
  await add('three', { key })
  await ops.forceStop('two')
  expect(await claim()).toEqual([])
  await ops.forceStop('one')
  expect((await claim()).map(({ run }) => run.run)).toEqual(['three'])
})

it('tells the readers of a run that was ended at once, and frees its process', async () => {
  const { ops, runs, clock } = liveScene([{ stall: true }])
  const principal = { tenantId: 'acme', userId: 'ann' }
  const { run } = await runs.start({ principal, sessionId: 'chat', input: 'hello' })
  await expect.poll(async () => (await ops.show(run)).run.status).toBe('running')
  await ops.forceStop(run)
  const events: string[] = []
  const read = (async () => {
    for await (const logged of runs.attach(run, { principal })) events.push(toEntry(logged).event.type)
  })()
  await expect
    .poll(async () => {
      await clock.advance(500)
      return events.at(-1)
    })
    .toBe('turn:end')
  await read
})

it('says why a run cannot be retried', async () => {
  const { ops, add, addFailed } = idleScene()
  const key = { tenant: 'acme', owner: 'ann', agent: 'support', sessionId: 'chat' }
  await addFailed('one', { key })
  await add('later', { key })
  expect(await ops.retry('one')).toMatchObject({ queued: false, refusal: 'session_changed' })
  expect(await ops.retry('later')).toMatchObject({ queued: false, refusal: 'not_failed' })
  await addFailed('two')
  expect(await ops.retry('two')).toEqual({ queued: true })
})

it('says that a failed turn which is stored in the session cannot be retried', async () => {
  const layer = {
    name: 'broken',
    turn() {
      throw new TypeError('x')
    },
  }
  const { ops, ended } = liveScene(['Done.'], { layers: [layer] })
  const { run } = await ended()
  expect(await ops.retry(run)).toMatchObject({ queued: false, refusal: 'turn_stored' })
})

it('starts a dead letter whose session moved on again as a new run, once', async () => {
  const { ops, add, addFailed, store, audited } = idleScene()
  const key = { tenant: 'acme', owner: 'ann', agent: 'support', sessionId: 'chat' }
  await addFailed('one', { key, queue: 'emails', priority: 3 })
  await add('later', { key })
  const started = await ops.startAgain('one', sam)
  expect([started.isNew, await ops.startAgain('one')]).toEqual([true, { ...started, isNew: false }])
  const { task, ...run } = (await store.runs.get({ tenant: 'acme', run: started.run })) ?? {}
  expect([task, run]).toMatchObject([
    { input: 'my secret plan' },
    { key, status: 'queued', queue: 'emails', priority: 3 },
  ])
  expect(await audited()).toMatchObject([{ type: 'operator:start_again', turn: 'one', ...sam }])
})

it('does not repeat recorded effects in a new run unless that is intended', async () => {
  const { ops, add, claim, store, audited } = idleScene()
  await add('one')
  const [held] = await claim()
  if (held === undefined) return expect.fail('It was not claimed.')
  await store.runs.record(held.lease, 'one', { id: 'one:tool:c1:1', body: 'paid' })
  await store.runs.giveUp(held.lease, 'one', { status: 'failed', code: 'run.attempts', reason: 'It was lost.' })
  await expect(ops.startAgain('one', sam)).rejects.toMatchObject({
    code: 'run.options',
    message: expect.stringContaining('recorded 1 steps of tools'),
  })
  expect(await audited()).toEqual([])
  expect(await ops.startAgain('one', { repeatEffects: true })).toMatchObject({ isNew: true })
})

it.each(['operator:sam', 'sam'])(
  'does not let a user with the id %s look like an operator in the history',
  async (userId) => {
    const call = { toolCalls: [{ name: 'pay', callId: 'c1', args: {} }] }
    const pay = { name: 'pay', description: 'Pays', jsonSchema: {}, requireApproval: true, execute: () => 'paid' }
    const agent = new Agent({ model: scriptedModel([call, 'Done.']), tools: [pay] })
    const session = agent.session({ principal: { tenantId: 'acme', userId, operator: 'sam' } })
    await session.run('Pay')
    const { toolCalls } = await session.resume({ c1: { deny: 'No.' } })
    expect(toolCalls[0]?.approval?.by).toEqual({ tenantId: 'acme', userId })
  },
)

it('denies a pending call without its token, and names the operator as the approver', async () => {
  const call = { toolCalls: [{ name: 'pay', callId: 'c1', args: {} }] }
  const pay = { name: 'pay', description: 'Pays', jsonSchema: {}, requireApproval: true, execute: () => 'paid' }
  const { ops, ended, runs, store, audited } = liveScene([call, 'Nothing was paid.'], { tools: [pay] })
  const { run, principal } = await ended()
  const denied = await ops.deny(run, { ...sam, reason: 'a private reason' })
  await runs.recover()
  for await (const _ of runs.attach(denied.run, { principal })) void _
  const { text, status } = await runs.get(denied.run, { principal })
  expect([denied.callId, status, text]).toEqual(['c1', 'completed', 'Nothing was paid.'])
  const key = { tenant: 'acme', owner: 'ann', agent: 'support', sessionId: 'chat' }
  const history = JSON.stringify(await store.sessions.load(key))
  expect(history).toContain('"approval":{"decision":"denied","by":{"operator":"sam"}')
  expect(history).not.toContain('private reason')
  expect(await audited()).toMatchObject([{ type: 'operator:deny', turn: run, call: 'c1', operator: 'sam' }])
  await expect(ops.deny(run, sam)).rejects.toMatchObject({ code: 'run.options' })
})

it('denies no call that waits in a sub-agent, which only an approver can decide', async () => {
  const pay = { name: 'pay', description: 'Pays', jsonSchema: {}, requireApproval: true, execute: () => 'paid' }
  const model = scriptedModel([{ toolCalls: [{ name: 'pay', callId: 'p1', args: {} }] }])
  const helper = new Agent({ name: 'helper', model, tools: [pay as never] })
  const execute = async (_: unknown, ctx: ToolContext) => (await delegate(ctx, helper, 'Pay.'))?.text
  const ask = { name: 'ask', description: 'Asks', jsonSchema: {}, execute }
  const { ops, ended, runs, audited } = liveScene([{ toolCalls: [{ name: 'ask', callId: 'c1', args: {} }] }], {
    tools: [ask],
  })
  const { run, principal } = await ended()
  const refused = { code: 'run.options', message: expect.stringContaining('of a sub-agent') }
  await expect(ops.deny(run, sam)).rejects.toMatchObject(refused)
  expect([(await runs.get(run, { principal })).pending?.length, await audited()]).toEqual([1, []])
})

it('denies no call that does not wait, and none without a name and a reason', async () => {
  const calls = ['c1', 'c2'].map((callId) => ({ name: 'pay', callId, args: {} }))
  const pay = { name: 'pay', description: 'Pays', jsonSchema: {}, requireApproval: true, execute: () => 'paid' }
  const { ops, ended, audited } = liveScene([{ toolCalls: calls }], { tools: [pay] })
  const { run } = await ended()
  for (const options of [
    { ...sam },
    { ...sam, callId: 'c3' },
    { ...sam, callId: 'c1', reason: '' },
    { callId: 'c1' },
    undefined,
  ])
    await expect(ops.deny(run, options as never)).rejects.toMatchObject({ code: 'run.options' })
  expect(await audited()).toEqual([])
  expect(await ops.deny(run, { ...sam, callId: 'c2' })).toMatchObject({ callId: 'c2' })
})

it.each(['queued', 'completed'])('does not start a %s run again', async (status) => {
  const { ops, runs, ended } = liveScene(['Done.'])
  const { run, principal } = await ended()
  const queued = await runs.start({ principal, input: 'later', runAt: 9e12 })
  const again = ops.startAgain(status === 'queued' ? queued.run : run)
  await expect(again).rejects.toMatchObject({ code: 'run.options', message: expect.stringContaining(status) })
})

it('changes all runs that match a filter, and counts them first', async () => {
  const { ops, add, addFailed, audited } = idleScene()
  for (const run of ['f1', 'f2']) await addFailed(run)
  await addFailed('other', { code: 'run.version' })
  await add('later', { key: { tenant: 'acme', owner: 'ann', agent: 'support', sessionId: 's-f1' } })
  const where = { code: 'run.attempts' }
  expect(await ops.bulk('retry', { where, dryRun: true })).toMatchObject({ matched: 2, changed: 0, more: false })
  expect(await ops.bulk('retry', { where, ...sam })).toMatchObject({
    ...{ matched: 2, changed: 1 },
    refused: [{ run: 'f1', tenant: 'acme', reason: expect.stringContaining('later run') }],
  })
  expect(await ops.bulk('forceStop', { where: { status: 'queued' }, limit: 1 })).toMatchObject({
    changed: 1,
    more: true,
  })
  expect((await ops.list({ status: 'failed' })).items.map(({ run }) => run)).toEqual(['other', 'f1'])
  expect((await audited()).map(({ turn }) => turn)).toEqual(['f2', 'f1'])
})

it('changes only runs of its tenants, and only with a condition', async () => {
  const { ops, add } = idleScene()
  await add('mine')
  await add('theirs', { tenant: 'globex' })
  const within = ops.within(['acme'])
  expect(await within.bulk('stop', { where: { agent: 'support' } })).toMatchObject({ matched: 1, changed: 1 })
  expect(await within.bulk('stop', { where: { tenant: 'globex' } })).toMatchObject({ matched: 0 })
  for (const where of [{}, { tenant: undefined }, undefined])
    await expect(ops.bulk('stop', { where: where as never })).rejects.toMatchObject({ code: 'run.options' })
  await expect(ops.bulk('drop' as never, { where: { agent: 'a' } })).rejects.toMatchObject({ code: 'run.options' })
})

it.each(['\u001b[2J', 'a\nb', '\u202egnp', '\u2028', ' ', 'x'.repeat(2001)])(
  'records no name and no reason like %j',
  async (text) => {
    const { ops, add, audited } = idleScene()
    await add('one')
    for (const by of [{ operator: text }, { operator: 'sam', reason: text }])
      for (const attempt of [
        ops.stop('one', by),
        ops.forceStop('one', by),
        ops.bulk('stop', { where: { agent: 'support' }, ...by }),
      ])
        await expect(attempt).rejects.toMatchObject({ code: 'run.options' })
    expect([(await ops.show('one')).run.status, await audited()]).toEqual(['queued', []])
  },
)
