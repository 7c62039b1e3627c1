import { Agent, delegate } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { workflow } from '../../src/workflow.ts'
import { logger } from './world.ts'

const greet = () =>
  workflow({
    ...{ name: 'greet', version: '1', logger, schema: z.object({ name: z.string(), times: z.coerce.number() }) },
    run: async ({ input }) => `Hello ${input.name}! `.repeat(input.times),
  })

it('gives the code the input as its schema parsed it', async () => {
  const flow = greet()
  const result = await flow.run(flow.input({ name: 'Ann', times: '2' }))
  expect(flow.result(result)).toBe('Hello Ann! Hello Ann! ')
})

it('rejects an input that does not fit the schema, before and in the run', async () => {
  const flow = greet()
  expect(() => flow.input({ name: 7, times: 1 } as never)).toThrow(/does not fit the schema of the workflow: name: /)
  await expect(flow.run('{"name":7}')).rejects.toMatchObject({ code: 'message.invalid' })
})

it('is run by another agent as a sub-agent', async () => {
  const flow = greet()
  const tool = {
    ...{ name: 'greet', description: 'Greets', jsonSchema: {} },
    execute: async (_: unknown, ctx: never) =>
      (await delegate(ctx, flow as never, flow.input({ name: 'Bo', times: 1 })))?.text,
  }
  const model = scriptedModel([{ toolCalls: [{ name: 'greet', callId: 'g', args: {} }] }, 'Done.'])
  const { toolCalls } = await new Agent({ model, tools: [tool as never], logger }).run('Hi')
  expect(toolCalls[0]?.result.content).toBe('"Hello Bo! "')
})

it('runs twice in one session, with steps of its own in each turn', async () => {
  const ran: number[] = []
  const flow = workflow({
    ...{ name: 'count', version: '1', logger },
    run: (ctx) => ctx.step('count', () => ran.push(Number(ctx.input))),
  })
  const session = flow.session({ id: 's' })
  expect([flow.result(await session.run('1')), flow.result(await session.run('2'))]).toEqual([1, 2])
  expect(ran).toEqual([1, 2])
})

it('rejects a message that is sent to it while it runs', async () => {
  let release = () => {}
  const waiting = new Promise<void>((resolve) => (release = resolve))
  const flow = workflow({ name: 'wait', version: '1', logger, run: (ctx) => ctx.step('wait', () => waiting) })
  const run = flow.run('null')
  const rejected = new Promise((resolve) => flow.on('steer:rejected', resolve))
  run.steer('Hurry up!')
  release()
  expect(await rejected).toMatchObject({ type: 'steer:rejected' })
  expect((await run).status).toBe('completed')
})

it.each<[object, string]>([
  [{ name: '', version: '1', run: () => 1 }, 'workflow() needs a name'],
  [{ name: 'a', run: () => 1 }, 'workflow() needs a version'],
  [{ name: 'a', version: '1' }, 'needs its code: run: async (ctx)'],
  [{ name: 'a', version: '1', run: () => 1, schema: {} }, 'is no Standard Schema'],
  [{ name: 'a', version: '1', run: () => 1, steps: [] }, 'Steps are code'],
])('rejects the options %o', (options, message) => {
  expect(() => workflow(options as never)).toThrow(expect.objectContaining({ code: 'options.invalid' }))
  expect(() => workflow(options as never)).toThrow(message)
})
