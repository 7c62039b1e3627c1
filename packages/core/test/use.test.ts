import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Agent, defineMiddleware, type Middleware } from '../src/index.ts'
import { build, failure, oneCall, tool } from './kit.ts'

const idle = (name: string): Middleware => ({ name, turn: (_, next) => next() })

describe('use', () => {
  it('names functions of nested lists by their place in the whole, so that none shares a name', async () => {
    const turn: Middleware['turn'] = (_, next) => next()
    const { agent } = build(['done'])
    agent.use([[turn, turn], turn])
    expect(agent.inspect().layers.map(({ name }) => name)).toEqual(['turn#0', 'turn#1', 'turn#2'])
  })

  it('shows the tokens of each definition in inspect()', () => {
    const defs = [tool('short', () => ''), { ...tool('long', () => ''), description: 'x'.repeat(4_000) }]
    const [short, long] = new Agent({ model: build([]).model, tools: defs }).inspect().tools
    expect(short).toMatchObject({ name: 'short', tokens: expect.any(Number) })
    expect((long?.tokens ?? 0) - (short?.tokens ?? 0)).toBeGreaterThan(990)
  })

  it('takes every form, in one chain, in order', async () => {
    const log: string[] = []
    const turn = (entry: string) => async (_: unknown, next: () => Promise<void>) => {
      log.push(entry)
      await next()
    }
    const configured = defineMiddleware({
      name: 'configured',
      config: z.object({ tag: z.string() }),
      turn: (ctx, next) => {
        log.push(ctx.config.tag)
        return next()
      },
    })
    const { agent } = build(oneCall, [], { tools: [tool('work')] })
    const same = agent
      .use({ name: 'object', turn: turn('object') })
      .use(configured, { tag: 'config' })
      .use(turn('function'))
      .use('turn', turn('scope'))
      .use('turn', { process: turn('process') })
      .use('tool', (_, next) => {
        log.push('tool')
        return next()
      })
      .use({ toMiddleware: () => ({ name: 'converted', turn: turn('converted') }) })
      .use([{ name: 'listed', turn: turn('listed') }, turn('listed function'), [turn('nested')]])
    await agent.run('hi')
    expect(same).toBe(agent)
    expect(log).toEqual([
      ...['object', 'config', 'function', 'scope', 'process', 'converted'],
      ...['listed', 'listed function', 'nested', 'tool'],
    ])
  })

  it('keeps `this` of an object with process(), of a layer with methods, and of toMiddleware()', async () => {
    class Counter {
      readonly name = 'counter'
      turns = 0
      async process(_: unknown, next: () => Promise<void>) {
        this.turns++
        await next()
      }
    }
    class Layer {
      readonly name = 'layer'
      #turns = 0
      get turns() {
        return this.#turns
      }
      async turn(_: unknown, next: () => Promise<void>) {
        this.#turns++
        await next()
      }
    }
    class Pack {
      readonly layer = new Layer()
      toMiddleware() {
        return this.layer
      }
    }
    const [counter, pack] = [new Counter(), new Pack()]
    const { agent } = build(['ok'])
    agent.use('turn', counter).use(pack)
    await agent.run('hi')
    expect([counter.turns, pack.layer.turns]).toEqual([1, 1])
    expect(agent.inspect().layers.map(({ name }) => name)).toEqual(['counter', 'layer'])
  })

  it('names plain functions after their scope and place', () => {
    const { agent } = build([])
    agent
      .use(idle('first'))
      .use((_, next) => next())
      .use('model', (_, next) => next())
    expect(agent.inspect().layers.map(({ name }) => name)).toEqual(['first', 'turn#1', 'model#2'])
  })

  it.each<[string, object, string]>([
    ['a hook that there is not', { turns() {} }, 'has the unknown key "turns". Did you mean "turn"? Available: turn, '],
    ['a hook in other letters', { Model() {} }, 'Did you mean "model"?'],
    ['a hook of another framework', { beforeModel() {} }, 'the unknown key "beforeModel". Did you mean "model"?'],
    ['a hook around a call', { wrapToolCall() {} }, 'Did you mean "tool"?'],
    ['a hook for the end of a scope', { afterTurn() {} }, 'Did you mean "turn"?'],
    ['a field that there is not', { innermots: true }, 'Did you mean "innermost"?'],
    ['an option', { limit: 1 }, 'has the unknown key "limit". Available: '],
    [
      'a word of its order that there is not',
      { order: { insde: ['meters'] } },
      'has in its order the unknown key "insde". Did you mean "inside"? Available: inside, ',
    ],
  ])('refuses a layer with %s', (_, fields, message) => {
    const use = () => build([]).agent.use({ name: 'mine', turn() {}, ...fields } as never)
    expect(use).toThrow(expect.objectContaining({ code: 'layer.invalid' }))
    expect(use).toThrow(message)
  })

  it('takes layers with functions of their own, and classes with fields', () => {
    class Counter {
      name = 'counter'
      count = 0
      turns = 0
      turn() {}
    }
    const audit = Object.assign({ name: 'audit', turn() {} }, { head: () => 1, run: () => 2 })
    expect(build([], [new Counter() as never, audit as never]).agent.inspect().scopes.turn).toEqual([
      'counter',
      'audit',
    ])
  })

  it('throws after init() and after the first run', async () => {
    const { agent } = build(['ok'])
    await agent.init()
    expect(() => agent.use(idle('late'))).toThrow(expect.objectContaining({ code: 'agent.started' }))
    const other = build(['ok']).agent
    const run = other.run('hi')
    expect(() => other.use(idle('late'))).toThrow(expect.objectContaining({ code: 'agent.started' }))
    await run
  })

  it('refuses two layers of one name, also within an array', () => {
    const { agent } = build([])
    agent.use(idle('same'))
    expect(() => agent.use(idle('same'))).toThrow(/"same"/)
    expect(() => build([]).agent.use([idle('x'), idle('x')])).toThrow(
      expect.objectContaining({ code: 'layer.duplicate' }),
    )
  })

  it.each([
    ['a layer without a name', {}],
    ['a number', 7],
    ['null', null],
    ['a hook that is no function', { name: 'x', model: 'later' }],
  ])('refuses %s with a typed error', (_, layer) => {
    expect(() => build([]).agent.use(layer as never)).toThrow(expect.objectContaining({ code: 'layer.invalid' }))
  })

  it('refuses a scope that does not exist, and a scope without a function', () => {
    expect(() => build([]).agent.use('loop' as never, (() => {}) as never)).toThrow(/agent, session, turn, model, tool/)
    expect(() => build([]).agent.use('turn', {} as never)).toThrow(expect.objectContaining({ code: 'layer.invalid' }))
  })

  it('checks the config of a layer by its schema and names layer and field', () => {
    const layer = defineMiddleware({ name: 'picky', config: z.object({ deep: z.object({ limit: z.number() }) }) })
    const wrong = () => build([]).agent.use(layer, { deep: { limit: 'ten' } } as never)
    expect(wrong).toThrow(/"picky".*deep\.limit/)
    expect(wrong).toThrow(expect.objectContaining({ code: 'layer.config' }))
  })

  it('gives a layer the parsed config, defaults included', async () => {
    let limit: number | undefined
    const layer = defineMiddleware({
      name: 'defaulted',
      config: z.object({ limit: z.number().default(3) }),
      turn: (ctx, next) => {
        limit = ctx.config.limit
        return next()
      },
    })
    await new Agent({ model: build(['ok']).model }).use(layer, {}).run('hi')
    expect(limit).toBe(3)
  })

  it('leaves the agent as it was when one layer of an array is refused', async () => {
    const { agent } = build(['ok'], [{ name: 'one', state: { key: { default: 1 } } }])
    const bad: Middleware[] = [
      { name: 'two', state: { other: { default: 1 } }, tools: [tool('work')] },
      { name: 'three', state: { key: { default: 2 } } },
    ]
    expect(() => agent.use(bad)).toThrow(expect.objectContaining({ code: 'state.conflict' }))
    expect(agent.inspect().layers.map(({ name }) => name)).toEqual(['one'])
    expect(Object.keys((await agent.run('hi')).state)).toEqual(['key'])
  })

  it.each(['agent', 'session', 'state', 'tools', 'provides'])(
    'refuses a layer of one run that has %s',
    async (field) => {
      const value = field === 'state' ? { key: { default: 0 } } : field.endsWith('s') ? [] : () => {}
      const error = await failure(build(['ok']).agent.run('hi', { use: [{ name: 'mine', [field]: value } as never] }))
      expect(error).toMatchObject({ code: 'layer.invalid', message: expect.stringMatching(/"mine"/) })
    },
  )

  it('refuses a layer of one run that has the name of an agent layer', async () => {
    const { agent } = build(['ok'], [idle('same')])
    expect(await failure(agent.run('hi', { use: [idle('same')] }))).toMatchObject({ code: 'layer.duplicate' })
  })

  it('refuses options that cannot work', () => {
    expect(() => new Agent({} as never)).toThrow(expect.objectContaining({ code: 'agent.options' }))
    expect(() => build([], [], { maxSteps: 0 })).toThrow(/maxSteps/)
    expect(() => build([], [], { toolConcurrency: Number.NaN })).toThrow(/toolConcurrency/)
  })

  it('takes all layers of a list or none: neither their state nor their tools stay behind', async () => {
    const { agent } = build(['ok'])
    const counts = { name: 'counts', state: { n: { default: 1 } }, tools: [tool('count')] }
    const twice = { name: 'twice', state: { m: { default: 1 }, n: { default: 2 } } }
    expect((await failure(() => agent.use([counts, twice]))).code).toBe('state.conflict')
    agent.use(counts)
    expect((await agent.run('hi')).state).toEqual({ n: 1 })
  })
})
