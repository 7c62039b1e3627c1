import { expect, it } from 'vitest'
import { scriptedModel } from '../../testing/src/index.ts'
import { callerOf } from '../src/context.ts'
import { Agent, delegate, type Middleware } from '../src/index.ts'

it('tells the layers of a sub-agent, its own and inherited ones, which call of which turn runs it', async () => {
  const seen: unknown[] = []
  const turns = new Map<unknown, string>()
  const notes = (name: string): Middleware => ({
    name,
    inherit: true,
    turn(ctx, next) {
      const caller = callerOf(ctx)
      turns.set(ctx.metadata, ctx.agent.name)
      seen.push([name, 'turn', caller && [turns.get(caller.metadata), caller.callId]])
      return next()
    },
    model(ctx, next) {
      seen.push([name, 'model', callerOf(ctx)?.callId])
      return next()
    },
  })
  const child = new Agent({ name: 'child', model: scriptedModel(['Found.']) }).use(notes('own'))
  const ask = {
    name: 'ask',
    description: 'Asks',
    jsonSchema: { type: 'object' },
    execute: async (_: unknown, ctx: Parameters<typeof delegate>[0]) => (await delegate(ctx, child, 'Find it'))?.text,
  }
  const model = scriptedModel([{ toolCalls: [{ callId: 'c-1', name: 'ask' }] }, 'Done.'])
  await new Agent({ name: 'parent', model, tools: [ask] }).use(notes('outer')).run('Go')
  expect(seen).toEqual([
    ['outer', 'turn', undefined],
    ['outer', 'model', undefined],
    ['own', 'turn', ['parent', 'c-1']],
    ['outer', 'model', 'c-1'],
    ['own', 'model', 'c-1'],
    ['outer', 'model', undefined],
  ])
})
