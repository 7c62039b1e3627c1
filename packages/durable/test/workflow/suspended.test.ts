import { Agent } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import { type WorkflowContext, workflow } from '../../src/workflow.ts'
import { ended, logger, principal, world } from './world.ts'

type Code = (ctx: WorkflowContext) => Promise<unknown>

/** Builds of a workflow in a store. */
function builds() {
  const { clock, store, process } = world()
  const build = (code: Code, options: object = {}) => {
    const flow = workflow({ name: 'flow', version: '1', store, clock, logger, run: code, ...options })
    return { flow, runs: process(flow) }
  }
  return { clock, build }
}

it('treats an approval that nobody decided in time as denied', async () => {
  const { clock, build } = builds()
  const { runs, flow } = build((ctx) => ctx.approval('pay', { expiresIn: 5000 }))
  const { run } = await runs.start({ principal, input: 'null' })
  expect((await ended(runs, run)).status).toBe('suspended')
  await clock.advance(6000)
  const [latest] = (await runs.list({ tenant: 'acme' })).items
  const info = await ended(runs, String(latest?.run))
  expect(flow.result(info)).toMatchObject({ approved: false, reason: 'Nobody decided in time.' })
})

it('gives the code the details that the approver changed, the data and the approver', async () => {
  const { build } = builds()
  const { runs, flow } = build((ctx) => ctx.approval('pay', { details: { amount: 900 } }))
  const { run, sessionId } = await runs.start({ principal, input: 'null' })
  await ended(runs, run)
  const decision = { args: { name: 'pay', details: { amount: 500 } }, data: { note: 'half' } }
  const next = await runs.start({ principal, sessionId, decisions: { pay: decision } })
  expect(flow.result(await ended(runs, next.run))).toEqual({
    ...{ approved: true, details: { amount: 500 }, data: { note: 'half' } },
    by: { tenantId: 'acme', userId: 'ann' },
  })
})

it('waits for two approvals at once, which are decided one after the other', async () => {
  const { build } = builds()
  const { runs, flow } = build(async (ctx) => {
    const decided = await ctx.all([ctx.approval('legal'), ctx.approval('finance')])
    return decided.map(({ approved }) => approved)
  })
  const { run, sessionId } = await runs.start({ principal, input: 'null' })
  const { pending } = await ended(runs, run)
  expect(pending?.map(({ callId }) => callId)).toEqual(['legal', 'finance'])
  const second = await runs.start({ principal, sessionId, decisions: { finance: { deny: 'No.' } } })
  expect((await ended(runs, second.run)).status).toBe('suspended')
  const third = await runs.start({ principal, sessionId, decisions: { legal: { approve: true } } })
  expect(flow.result(await ended(runs, third.run))).toEqual([true, false])
})

it('is suspended by a tool of its agent that requires an approval', async () => {
  const { build } = builds()
  const book = { name: 'book', description: 'Books', jsonSchema: {}, requireApproval: true, execute: () => 'booked' }
  const model = scriptedModel([{ toolCalls: [{ name: 'book', callId: 'b1', args: {} }] }, 'It is booked.'])
  const clerk = new Agent({ name: 'clerk', model, tools: [book as never] })
  const { runs, flow } = build(async (ctx) => (await ctx.agent(clerk, 'Book it.')).text)
  const { run, sessionId } = await runs.start({ principal, input: 'null' })
  const { pending } = await ended(runs, run)
  expect(pending?.map(({ callId, path }) => [callId, path])).toEqual([['clerk/b1', ['clerk']]])
  const next = await runs.start({ principal, sessionId, decisions: { 'clerk/b1': { approve: true } } })
  expect(flow.result(await ended(runs, next.run))).toBe('It is booked.')
})

it('stops a suspended run whose code requests other steps now, and continues it with the former code', async () => {
  const { build } = builds()
  const ran: string[] = []
  const logged: string[] = []
  const step = (ctx: WorkflowContext, name: string) => ctx.step(name, () => ran.push(name))
  const before: Code = async (ctx) => {
    await step(ctx, 'reserve')
    await ctx.approval('pay')
    return step(ctx, 'pay out')
  }
  const after: Code = async (ctx) => {
    await step(ctx, 'check')
    return before(ctx)
  }
  const first = build(before)
  const { run, sessionId } = await first.runs.start({ principal, input: 'null' })
  await ended(first.runs, run)
  await first.runs.drain()
  const second = build(after, { version: '2', logger: { ...logger, error: (line: string) => void logged.push(line) } })
  const next = await second.runs.start({ principal, sessionId, decisions: { pay: { approve: true } } })
  await ended(second.runs, next.run).catch(() => {})
  const info = await second.runs.get(next.run, { principal })
  expect([info.code, info.reason]).toEqual([
    'journal.diverged',
    expect.stringMatching(
      /^The run has recorded "reserve" here, but now the code requests "check",.*Nothing was run\./,
    ),
  ])
  await second.runs.drain()
  expect(logged).toEqual([])
  const third = build(before, { version: '2' })
  expect(await third.runs.retry(next.run, { principal })).toBe(true)
  for (let n = 0; n < 20; n++) await new Promise((resolve) => setImmediate(resolve))
  await ended(third.runs, next.run).catch(() => {})
  expect((await third.runs.get(next.run, { principal })).status).toBe('completed')
  expect(ran).toEqual(['reserve', 'pay out'])
})
