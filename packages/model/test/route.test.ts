import { Agent, type AnyMiddleware } from '@allium/core'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { cache, fallback, type RouteOptions, route } from '../src/index.ts'

const down = () => Object.assign(new Error('down'), { status: 503 })

/** An agent whose own model is "own/0" and whose others are strings that it resolves. */
function scene(options: RouteOptions, steps: readonly ScriptedStep[] = ['ok', 'ok'], more: AnyMiddleware[] = []) {
  const called: string[] = []
  const answers = [...steps]
  const one = (id: string) =>
    scriptedModel(
      Array.from({ length: 9 }, () => () => {
        called.push(id)
        return answers.shift() as ScriptedStep as string
      }),
      { id },
    )
  const look = { name: 'look', description: 'Looks', jsonSchema: {}, execute: () => 'seen' }
  const agent = new Agent({ model: one('own/0'), tools: [look], resolveModel: one }).use(route(options)).use(more)
  const routes: string[] = []
  agent.on('model:route', ({ from, to }) => routes.push(`${from} to ${to}`))
  return { agent, called, routes }
}

describe('model.route', () => {
  const plans: RouteOptions = {
    rules: [
      { when: ({ principal }) => (principal as { plan?: string } | undefined)?.plan === 'free', model: 'small/1' },
      { when: ({ request }) => JSON.stringify(request.messages).length > 1000, model: 'long/1' },
    ],
  }

  it('calls the model of the first rule that says yes', async () => {
    const { agent, called, routes } = scene(plans)
    await agent.run('x'.repeat(1000), { session: { principal: { plan: 'free' } } })
    await agent.run('x'.repeat(1000))
    expect([called, routes]).toEqual([
      ['small/1', 'long/1'],
      ['own/0 to small/1', 'own/0 to long/1'],
    ])
  })

  it('calls the agent’s own model where none does, or that of the run, and tells nothing', async () => {
    const { agent, called, routes } = scene(plans)
    await agent.run('hi')
    await agent.run('hi', { model: 'run/1' })
    expect([called, routes]).toEqual([['own/0', 'run/1'], []])
  })

  it('asks a function, which may wait, at each step anew', async () => {
    const to: RouteOptions['to'] = async ({ stepIndex }) => (stepIndex > 0 ? 'later/1' : undefined)
    const { agent, called } = scene({ to }, [{ toolCalls: [{ name: 'look' }] }, 'done'])
    expect((await agent.run('hi')).text).toBe('done')
    expect(called).toEqual(['own/0', 'later/1'])
  })

  it('takes a model object, whose answer streams like any other', async () => {
    const other = scriptedModel(['From the other.'], { id: 'other/1' })
    const run = scene({ to: () => other }).agent.run('hi')
    let shown = ''
    for await (const event of run) if (event.type === 'text-delta') shown += event.delta
    expect(shown).toBe('From the other.')
  })

  it('leaves a fallback inside it to go on from the model that it chose', async () => {
    const { agent, called } = scene({ to: () => 'first/1' }, [down(), 'ok'], [fallback({ models: ['second/1'] })])
    expect((await agent.run('hi')).text).toBe('ok')
    expect(called).toEqual(['first/1', 'second/1'])
  })

  it('fails the run where a rule throws, and where a rule gives no model', async () => {
    const error = new Error('no plan')
    const when = () => {
      throw error
    }
    await expect(scene({ rules: [{ when, model: 'a/1' }] }).agent.run('hi')).rejects.toBe(error)
    const none = scene({ to: () => 7 as never }).agent.run('hi')
    await expect(none).rejects.toMatchObject({ code: 'model.invalid' })
  })

  it('asks to stand outside what falls back or caches', () => {
    for (const inner of [fallback({ models: ['b/1'] }), cache()]) {
      const layers = [inner, route({ to: () => 'b/1' })]
      const agent = new Agent({ model: scriptedModel([]), orderCheck: 'off' }).use(layers)
      expect(agent.check()).toMatchObject([{ severity: 'error', layers: ['model:route', inner.name] }])
    }
  })

  it.each<[RouteOptions]>([[{}], [{ rules: [] }], [{ rules: [{ when: () => true, model: 'a/1' }], to: () => 'a/1' }]])(
    'refuses %j',
    (options) => {
      expect(() => route(options)).toThrowError(expect.objectContaining({ code: 'layer.config' }))
    },
  )
})
