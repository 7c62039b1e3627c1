import { Agent, type ContentChunk, type ToMiddleware } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { agent, decorator, from, type HookContext, type IAgent, type IMiddleware } from '../src/index.ts'
import { build, oneCall, recorder, tool } from './kit.ts'

const log: string[] = []

class Audit implements IMiddleware<{ tenant: string }> {
  getName() {
    return 'audit'
  }
  onStart(ctx: HookContext<{ tenant: string }>) {
    log.push(`${ctx.context.tenant} starts`)
  }
}
describe('a class with IMiddleware', () => {
  it('reads the typed context of the run', async () => {
    log.length = 0
    const context = z.object({ tenant: z.string() })
    const made = new Agent({ model: scriptedModel(['a']), context }).use(from(new Audit()))
    await made.run('hi', { context: { tenant: 'acme' } })
    expect(log).toEqual(['acme starts'])
  })

  it.each([
    ['standard', {}],
    ['experimental', { experimentalDecorators: true }],
  ])('is taken by use() as it is, once decorated: as a %s decorator', async (_, options) => {
    const source = `@decorator.middleware() class Audit { getName() { return 'audit' }; onStart() { log.push('starts') } }; return Audit`
    const { outputText } = ts.transpileModule(source, {
      compilerOptions: { target: ts.ScriptTarget.ES2022, ...options },
    })
    const Decorated = new Function('decorator', 'log', outputText)(decorator, log) as new () => ToMiddleware
    log.length = 0
    await build(['a'], [new Decorated()]).agent.run('hi')
    expect(log).toEqual(['starts'])
  })

  it('keeps a toMiddleware() of its own', () => {
    class Own {
      getName() {
        return 'own'
      }
      toMiddleware() {
        return from(this, { as: 'by itself' })
      }
    }
    decorator.middleware()(Own)
    expect(build([], [new Own()]).agent.inspect().scopes.turn).toEqual(['by itself'])
  })
})

describe('a class-based agent', () => {
  class Support implements IAgent<{ tenant: string }> {
    getModel = () => scriptedModel(oneCall)
    getInstructions = () => 'Be kind.'
    getTools = () => [tool('work')]
    getMiddlewares = () => [Audit, recorder(log, 'own:')]
  }

  it('has the hooks of its getMiddlewares(), classes and instances', async () => {
    log.length = 0
    const support = agent(Support)
    expect([support.name, support]).toEqual(['Support', expect.any(Agent)])
    expect((await support.run('hi', { context: { tenant: 'acme' } })).text).toBe('done')
    expect(log).toContain('acme starts')
    expect(log.at(-1)).toBe('own:onFinish')
  })

  it('takes options for what the class does not say, and they win', async () => {
    const model = scriptedModel(['from the options'])
    const made = agent(Support, { name: 'other', model })
    expect([made.name, (await made.run('hi', { context: { tenant: 'a' } })).text]).toEqual([
      'other',
      'from the options',
    ])
    expect(model.requests[0]?.messages[0]).toEqual({ role: 'system', content: 'Be kind.' })
    expect(() => agent({})).toThrow(expect.objectContaining({ code: 'agent.options' }))
  })

  it('runs its own hooks first, then those of one run, in every hook', async () => {
    const order: string[] = []
    const made = agent(
      { getMiddlewares: () => [recorder(order, 'own:')] },
      { model: scriptedModel(oneCall), tools: [tool('work')] },
    )
    await made.run('hi', { use: [from(recorder(order, 'run:'))] })
    for (const hook of ['setup', 'onStart', 'onAfterToolCall', 'onFinish', 'onChunk', 'onBeforeModel'])
      expect(order.filter((line) => line.endsWith(`:${hook}`)).slice(0, 2)).toEqual([`own:${hook}`, `run:${hook}`])
    expect(order.filter((line) => line.endsWith('onFinish'))).toHaveLength(2)
  })

  it('runs every setup, that of a run too, before the first onConfig', async () => {
    const order: string[] = []
    const inside = (_: unknown, next: () => Promise<void>) => {
      order.push('inside')
      return next()
    }
    const made = agent({ getMiddlewares: () => [recorder(order, 'own:')] }, { model: scriptedModel(['done']) }).use(
      inside,
    )
    await made.run('hi', { use: [from(recorder(order, 'run:'))] })
    expect(order.slice(0, 7)).toEqual([
      'own:setup',
      'inside',
      'run:setup',
      'own:onConfig init',
      'run:onConfig init',
      'own:onStart',
      'run:onStart',
    ])
  })

  it('tells of the start where a layer inside answers in place of the loop', async () => {
    const order: string[] = []
    const answers = { name: 'answers', turn: (ctx: { output: string | null }) => void (ctx.output = 'closed') }
    const made = agent({ getMiddlewares: () => [recorder(order)] }, { model: scriptedModel([]) }).use(answers)
    expect((await made.run('hi')).text).toBe('closed')
    expect(order).toEqual(['setup', 'onConfig init', 'onStart', 'onFinish'])
  })

  it('pipes chunks through its own hooks first', async () => {
    const add = (text: string) => ({
      onChunk: (_: unknown, chunk: ContentChunk) =>
        chunk.type === 'text-delta' ? { ...chunk, delta: chunk.delta + text } : undefined,
    })
    const made = agent(
      { getMiddlewares: () => [add('1')] },
      { model: scriptedModel([{ chunks: ['a'] }, { chunks: ['b'] }]) },
    )
    expect((await made.run('hi', { use: [from(add('2'))] })).text).toBe('a12')
    expect((await made.run('hi')).text).toBe('b1')
  })

  it('has the hooks of a run in that run alone', async () => {
    const order: string[] = []
    const made = agent({}, { model: scriptedModel(['a', 'b']) })
    const session = made.session()
    await session.run('one', { use: [from({ onFinish: () => void order.push('run') })] })
    await session.run('two')
    expect(order).toEqual(['run'])
  })
})
