import { expect, it } from 'vitest'
import { persist } from '../../memory/src/index.ts'
import { memoryStore } from '../../store/src/index.ts'
import { memoryJournal } from '../../store/src/journal.ts'
import { type ScriptedStep, scriptedModel } from '../../testing/src/index.ts'
import { Agent, type Journal, type ModelContext, type ModelResponse } from '../src/index.ts'
import { differences } from '../src/turn/step-request.ts'

const ids = () => 'chat'
const call = { toolCalls: [{ name: 'pay', callId: 'c1', args: { to: 'Ada' } }] }
const pay = (paid: unknown[]) => ({
  name: 'pay',
  description: 'Pays',
  jsonSchema: { type: 'object' },
  execute: (args: unknown) => paid.push(args),
})

/** A run that died behind so many steps. */
async function died(steps: number): Promise<Journal> {
  const journal = memoryJournal()
  const dead = journal.killAfter(steps)
  void new Agent({ model: scriptedModel([call, 'Paid.']), tools: [pay([])], ids })
    .session()
    .run('Pay Ada.', { turnId: 't', journal })
    .then(undefined, () => {})
  await dead
  return journal.reopen()
}

it('fails a run that asks a recorded model call otherwise, and runs nothing', async () => {
  const journal = await died(2)
  const paid: unknown[] = []
  const model = scriptedModel([])
  const run = new Agent({ model, tools: [pay(paid)], ids }).session().run('Pay Bob.', { turnId: 't', journal })
  const error = await run.then(undefined, (error) => error)
  expect(error).toMatchObject({
    code: 'journal.diverged',
    details: { step: 't:model:0:1', differs: ['history'] },
  })
  expect([model.requests.length, paid]).toEqual([0, []])
})

it('does so of a recorded tool call, though a layer would try it again', async () => {
  const journal = await died(3)
  const paid: unknown[] = []
  const agent = new Agent({ model: scriptedModel([]), tools: [pay(paid)], ids })
    .use({
      name: 'again',
      async tool(_ctx, next) {
        return await next().catch(() => next())
      },
    })
    .use({
      name: 'other',
      async tool(ctx, next) {
        ctx.modifyArgs({ to: 'Bob' })
        return await next()
      },
    })
  const run = agent.session().run('Pay Ada.', { turnId: 't', journal })
  await expect(run).rejects.toMatchObject({
    code: 'journal.diverged',
    details: { step: 't:tool:c1:1', differs: ['arguments'] },
  })
  expect(paid).toEqual([])
})

it('tells other settings and tools as a drift, and goes on by what is recorded', async () => {
  const journal = await died(3)
  const model = scriptedModel(['Paid.'])
  const tool = { ...pay([]), description: 'Pays somebody' }
  const run = new Agent({ model, tools: [tool], settings: { temperature: 0 }, instructions: 'Be brief.', ids })
    .session()
    .run('Pay Ada.', { turnId: 't', journal })
  const drifts: unknown[] = []
  for await (const event of run) if (event.type === 'journal:drift') drifts.push(event)
  expect(drifts).toMatchObject([{ step: 't:model:0:1', differs: ['settings', 'tool definitions', 'instructions'] }])
  expect((await run).text).toBe('Paid.')
})

it('continues with a step whose recording lacks a digest that the current release adds', () => {
  const recorded = { type: 'step:input', must: { model: 'm', conversation: 'as before' } } as const
  const now = { type: 'step:input', must: { model: 'm', history: 'as now' } } as const
  expect(differences(recorded, now)).toEqual({ must: [], may: [] })
})

it('fails before the next model call where the replay skips a recorded tool call', async () => {
  const journal = await died(3)
  const paid: unknown[] = []
  const model = scriptedModel([])
  const agent = new Agent({ model, tools: [pay(paid)], ids }).use('tool', (ctx) => ctx.deny('Not today.'))
  const run = agent.session().run('Pay Ada.', { turnId: 't', journal })
  await expect(run).rejects.toMatchObject({
    code: 'journal.diverged',
    details: { step: 't:tool:c1:1', differs: ['not requested'] },
  })
  expect([model.requests.length, paid]).toEqual([0, []])
})

it('waits for the recorded steps of an agent that a layer runs beside the loop', async () => {
  const journal = memoryJournal()
  const looks = { toolCalls: [{ name: 'pay', callId: 'j1', args: {} }] }
  const paid: unknown[] = []
  const start = (steps: ScriptedStep[], judgeSteps: ScriptedStep[], journal: Journal) => {
    let open = () => {}
    const secondCall = new Promise<void>((resolve) => (open = resolve))
    const judge = new Agent({ model: scriptedModel(judgeSteps), tools: [pay(paid)] }).use('turn', async (_, next) => {
      if (steps.length === 1) await secondCall
      await next()
    })
    return new Agent({ model: scriptedModel(steps), tools: [pay(paid)], ids })
      .use('turn', async (ctx, next) => {
        const judged = ctx.once('judge', async (inner) => (await judge.run('Judge.', inner)).text)
        await next()
        await judged
      })
      .use('model', (ctx, next) => {
        if (ctx.callIndex === 1) setImmediate(open)
        return next()
      })
      .session()
      .run('Pay Ada.', { turnId: 't', journal })
  }
  void start([call, { stall: true }], [looks, { stall: true }], journal).then(undefined, () => {})
  await expect.poll(() => journal.recorded.filter((id) => /:tool:[cj]1:1$/.test(id))).toHaveLength(2)
  expect((await start(['Paid.'], ['Fine.'], journal.reopen())).text).toBe('Paid.')
  expect(paid).toHaveLength(2)
})

it('lets a layer end the turn while an agent beside the loop is still replayed', async () => {
  const journal = memoryJournal()
  const stalls = { ...pay([]), execute: () => new Promise(() => {}) }
  const start = (journal: Journal, isNew = false) => {
    const judge = new Agent({ model: scriptedModel(['Fine.']), tools: [stalls] }).use('model', async (_, next) => {
      const answer = await next()
      return isNew ? answer : new Promise<never>(() => {})
    })
    if (isNew) judge.use('turn', () => new Promise(() => {}))
    return new Agent({ model: scriptedModel([call]), tools: [stalls], ids })
      .use('turn', async (ctx, next) => {
        void ctx.once('judge', async (inner) => (await judge.run('Judge.', inner)).text).catch(() => {})
        await next()
      })
      .use('model', async (ctx, next) => {
        const answer = await next()
        return isNew ? ctx.block('Closed.') : answer
      })
      .session()
      .run('Pay Ada.', { turnId: 't', journal })
  }
  void start(journal).then(undefined, () => {})
  await expect.poll(() => journal.recorded.filter((id) => id.endsWith(':model:0:1'))).toHaveLength(2)
  expect(await start(journal.reopen(), true)).toMatchObject({ status: 'blocked', reason: 'Closed.' })
})

it('fails before it would wait for an approval of a call that has run', async () => {
  const journal = await died(3)
  const tool = { ...pay([]), requireApproval: true }
  const run = new Agent({ model: scriptedModel([]), tools: [tool], ids })
    .session()
    .run('Pay Ada.', { turnId: 't', journal })
  await expect(run).rejects.toMatchObject({ code: 'journal.diverged', details: { step: 't:tool:c1:1' } })
})

it('does not store the end of a turn that has diverged, so that the code that began it can continue it', async () => {
  const store = memoryStore()
  const journal = await died(3)
  const agent = new Agent({ model: scriptedModel([]), tools: [pay([])], ids })
    .use(persist({ store }))
    .use('tool', (ctx) => ctx.deny('Not today.'))
  const session = agent.session({ id: 'chat' })
  await expect(session.run('Pay Ada.', { turnId: 't', journal })).rejects.toMatchObject({ code: 'journal.diverged' })
  expect(await store.find(session.key, { turnId: 't' })).toMatchObject({ status: 'running' })
})

it('finds what the attempts of a layer have recorded, wherever the layer stands now', async () => {
  const journal = memoryJournal()
  const count = (calls: string[]) => ({
    name: 'count',
    async model(ctx: ModelContext, next: () => Promise<ModelResponse>) {
      await ctx.once('fee', () => calls.push('fee'), { per: 'attempt' })
      return next()
    },
  })
  const dead = journal.killAfter(2)
  const first: string[] = []
  const agent = () => new Agent({ model: scriptedModel(['Hello.']), ids })
  void agent()
    .use(count(first))
    .session()
    .run('Hi', { turnId: 't', journal })
    .then(undefined, () => {})
  await dead
  const second: string[] = []
  const outer = { name: 'outer', model: (_: ModelContext, next: () => Promise<ModelResponse>) => next() }
  await agent().use(outer).use(count(second)).session().run('Hi', { turnId: 't', journal: journal.reopen() })
  expect([first, second]).toEqual([['fee'], []])
})
