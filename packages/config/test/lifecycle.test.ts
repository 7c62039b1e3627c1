import { delegate } from '@allium/core'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, test } from 'vitest'
import { type HookName, loadConfig } from '../src/index.ts'
import { bash, callsBash } from './kit.ts'

/** An agent whose hooks note their names, and the step. */
async function noting(steps: readonly ScriptedStep[], options: Parameters<typeof loadConfig>[1] = {}) {
  const seen: string[] = []
  const note = (hook: HookName) => (ctx: object) => {
    const { iteration } = ('loop' in ctx ? ctx.loop : ctx) as { iteration: number }
    seen.push(`${hook} ${iteration}`)
  }
  const middleware = {
    beforeLoopBegin: [note('beforeLoopBegin')],
    beforeModelCall: [note('beforeModelCall')],
    beforeToolExecution: [note('beforeToolExecution')],
    afterLoopIteration: [note('afterLoopIteration')],
    afterLoopComplete: [note('afterLoopComplete')],
  }
  const given = { trusted: true, model: scriptedModel(steps), tools: [bash()], ...options }
  return { seen, agent: await loadConfig({ agent: { middleware } }, given) }
}

describe('the hooks around a loop', () => {
  test('do not end it while a call waits for a human, and go on with it when it is resumed', async () => {
    const tools = [{ ...bash(), requireApproval: true }]
    const { seen, agent } = await noting(callsBash(), { tools })
    const session = agent.session()
    expect((await session.run('Hi')).status).toBe('suspended')
    expect(seen.splice(0)).toEqual(['beforeLoopBegin 0', 'beforeModelCall 0', 'beforeToolExecution 0'])
    expect((await session.resume({ c1: { approve: true } })).text).toBe('Done.')
    expect(seen).toEqual([
      'beforeLoopBegin 0',
      'beforeToolExecution 0',
      'afterLoopIteration 0',
      'beforeModelCall 1',
      'afterLoopIteration 1',
      'afterLoopComplete 1',
    ])
  })

  test('tell the last iteration where the steps are used up', async () => {
    const { seen, agent } = await noting(callsBash(), { maxSteps: 1 })
    expect((await agent.run('Hi')).reason).toBe('max_steps')
    expect(seen.slice(-2)).toEqual(['afterLoopIteration 0', 'afterLoopComplete 0'])
  })

  test('are not told of an end by a block or an abort', async () => {
    const { seen, agent } = await noting(['Hello.'])
    agent.use('model', (ctx) => ctx.block('no'))
    await agent.run('Hi')
    expect(seen).toEqual(['beforeLoopBegin 0', 'beforeModelCall 0'])
  })

  test('are each of its own turn, where many run at once', async () => {
    const { seen, agent } = await noting(Array.from({ length: 20 }, () => 'Hello.'))
    await Promise.all(Array.from({ length: 20 }, () => agent.run('Hi')))
    expect(seen.filter((name) => name === 'afterLoopComplete 0')).toHaveLength(20)
  })
})

describe('the calls of a sub-agent', () => {
  test('pass the hooks of the agent above, policies too', async () => {
    const child = await loadConfig({}, { model: scriptedModel(callsBash('rm')), tools: [bash()] })
    const helper = {
      name: 'helper',
      description: 'Helps',
      jsonSchema: { type: 'object' },
      execute: async (_: unknown, ctx: never) => (await delegate(ctx, child, 'Go'))?.text,
    }
    const denied: string[] = []
    const deny = (ctx: { toolCall: { name: string }; deny(reason: string): void }) => {
      if (ctx.toolCall.name === 'bash') denied.push('bash')
      if (ctx.toolCall.name === 'bash') ctx.deny('no')
    }
    const model = scriptedModel([{ toolCalls: [{ name: 'helper', args: {} }] }, 'Ok.'])
    const config = { agent: { middleware: { beforeToolExecution: [deny] } } }
    const { text } = await (await loadConfig(config, { trusted: true, model, tools: [helper] })).run('Hi')
    expect({ text, denied }).toEqual({ text: 'Ok.', denied: ['bash'] })
  })
})
