import { type AbortError, Agent, type Middleware } from '@allium/core'
import { layerConformance, type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { type FallbackOptions, fallback, retry } from '../src/index.ts'

const down = () => Object.assign(new Error('down: key sk-secret'), { name: 'APIError', status: 503 })

/** An agent whose model falls back on others. */
function scene(
  first: readonly ScriptedStep[],
  others: readonly (readonly ScriptedStep[])[],
  options: Partial<FallbackOptions> = {},
  inside: Middleware[] = [],
) {
  const models = others.map((steps, i) => scriptedModel(steps, { id: `backup/${i + 1}` }))
  const main = scriptedModel(first, { id: 'main/0' })
  const agent = new Agent({ model: main }).use(fallback({ models, ...options })).use(inside)
  return { agent, main, models }
}

describe('model.fallback', () => {
  it('asks the next model where one fails, and the answer names it', async () => {
    const { agent, main, models } = scene([down()], [[down()], ['From the second backup.']])
    const ids: string[] = []
    agent.on('model:end', ({ model }) => ids.push(model))
    const { text, usage } = await agent.run('go')
    expect([text, usage.calls, ids]).toEqual(['From the second backup.', 3, ['backup/2']])
    expect(models[1]?.requests[0]?.messages).toEqual(main.requests[0]?.messages)
  })

  it('leaves the model alone that answers', async () => {
    const { agent, models } = scene(['fine'], [['never']])
    expect([(await agent.run('go')).text, models[0]?.calls]).toEqual(['fine', 0])
  })

  it('begins each model call anew with the first model', async () => {
    const { agent, main, models } = scene([down(), 'Main is back.'], [['Backup.']])
    const session = agent.session()
    expect([(await session.run('1')).text, (await session.run('2')).text]).toEqual(['Backup.', 'Main is back.'])
    expect([main.calls, models[0]?.calls]).toEqual([2, 1])
  })

  it('passes the last error on as it is, with those before in suppressed', async () => {
    const [first, second, last] = [down(), down(), down()]
    const { agent } = scene([first], [[second], [last]])
    const error = await agent.run('go').catch((error: unknown) => error)
    expect([error === last, (error as { suppressed?: unknown }).suppressed]).toEqual([true, [first, second]])
  })

  it('tells each step, by name and status, and no message', async () => {
    const { agent } = scene([down()], [['ok']])
    const told: unknown[] = []
    agent.on('model:fallback', (event) => told.push(event))
    await agent.run('go')
    expect(told).toEqual([{ type: 'model:fallback', from: 'main/0', to: 'backup/1', error: 'APIError 503' }])
  })

  it('takes text back that went out already, or fails where it is told to', async () => {
    const half: ScriptedStep = { chunks: ['Half'], error: down() }
    const run = scene([half], [['Whole.']]).agent.run('go')
    let shown = ''
    for await (const event of run) {
      if (event.type === 'model:reset') shown = ''
      if (event.type === 'text-delta') shown += event.delta
    }
    expect([shown, (await run).text]).toEqual(['Whole.', 'Whole.'])
    await expect(scene([half], [['never']], { afterOutput: 'fail' }).agent.run('go')).rejects.toThrow('down')
  })

  it.each([
    ['a block', (ctx: { block(reason: string): never }) => ctx.block('no'), 'blocked'],
    ['an abort', (ctx: { abort(): never }) => ctx.abort(), 'AbortError'],
  ])('is not for %s', async (_, end, expected) => {
    const ending: Middleware = { name: 'ending', model: (ctx) => end(ctx) }
    const { agent, models } = scene([], [['never']], {}, [ending])
    const outcome = await agent.run('go').then(
      ({ status }) => status,
      (error: AbortError) => error.name,
    )
    expect([outcome, models[0]?.calls]).toEqual([expected, 0])
  })

  it('asks when() of which errors it is to be', async () => {
    const { agent, models } = scene([down()], [['never']], {
      when: (error) => (error as { status: number }).status === 429,
    })
    await expect(agent.run('go')).rejects.toThrow('down')
    expect(models[0]?.calls).toBe(0)
  })

  it('stands outside of a retry: each model is retried first', async () => {
    const { agent, main, models } = scene([down(), down()], [[down(), 'ok']], {}, [
      retry({ attempts: 2, delay: 0 }) as Middleware,
    ])
    expect((await agent.run('go')).text).toBe('ok')
    expect([main.calls, models[0]?.calls]).toEqual([2, 2])
  })

  it('resolves models by their names', async () => {
    const backup = scriptedModel(['resolved'])
    const agent = new Agent({ model: scriptedModel([down()]), resolveModel: () => backup }).use(
      fallback({ models: ['some/model'] }),
    )
    expect((await agent.run('go')).text).toBe('resolved')
  })

  it('refuses to have no model to fall back on', () => {
    expect(() => fallback({ models: [] })).toThrow(expect.objectContaining({ code: 'layer.config' }))
  })
})

layerConformance({ layer: () => fallback({ models: [scriptedModel([])], when: () => false }), describe, it })
