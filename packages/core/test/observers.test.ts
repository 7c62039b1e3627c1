import { describe, expect, it } from 'vitest'
import type { AgentEvents, Middleware } from '../src/index.ts'
import { build, oneCall, rest, scopes, tool, types } from './kit.ts'

const names = [
  'agent:start',
  'agent:end',
  'session:start',
  'session:end',
  'turn:start',
  'turn:end',
  'step:start',
  'step:end',
  'model:start',
  'model:chunk',
  'model:reset',
  'model:end',
  'tool:start',
  'tool:end',
  'error',
] as const

describe('observers', () => {
  it('that a layer adds end with its session, or with its turn, after turn:end', async () => {
    const seen: string[] = []
    const adds = (scope: string) => (ctx: { on: Function }, next: () => unknown) => {
      ctx.on('turn:end', () => seen.push(scope))
      return next()
    }
    const layer = Object.fromEntries(scopes.map((scope) => [scope, adds(scope)]))
    const { agent } = build([...oneCall, ...oneCall, ...oneCall], [{ name: 'adds', ...layer } as Middleware], {
      tools: [tool('work')],
    })
    const session = agent.session()
    const ofTurn = ['turn', 'model', 'tool', 'model']
    for (let i = 0; i < 2; i++) await session.run('hi')
    expect(seen).toEqual(['agent', 'session', ...ofTurn, 'agent', 'session', ...ofTurn])
    await session.close()
    seen.length = 0
    await agent.session().run('hi')
    expect(seen).toEqual(['agent', 'session', ...ofTurn])
  })

  it('see the whole life of an agent, in order', async () => {
    const { agent } = build(oneCall, [], { tools: [tool('work')] })
    const seen: { type: string }[] = []
    for (const name of names) agent.on(name, (event: AgentEvents[typeof name]) => seen.push(event))
    const session = agent.session()
    await session.run('hi')
    await session.close()
    await agent.dispose()
    expect(types(seen).filter((type) => type !== 'model:chunk')).toEqual([
      ...[
        'agent:start',
        'session:start',
        'turn:start',
        'step:start',
        'model:start',
        'model:end',
        'tool:start',
        'tool:end',
        'step:end',
      ],
      ...['step:start', 'model:start', 'model:end', 'step:end', 'turn:end', 'session:end', 'agent:end'],
    ])
  })

  it('get chunks as model:chunk, as they leave the outermost layer', async () => {
    const upper: Middleware = {
      name: 'upper',
      model(ctx, next) {
        ctx.onChunk((chunk) =>
          chunk.type === 'text-delta' ? { ...chunk, delta: chunk.delta.toUpperCase() } : undefined,
        )
        return next()
      },
    }
    const { agent } = build(['abc'], [upper])
    const chunks: unknown[] = []
    agent.on('model:chunk', ({ chunk }) => chunks.push(chunk.type === 'text-delta' ? chunk.delta : chunk.type))
    await agent.run('hi')
    expect(chunks).toEqual(['ABC', 'finish'])
  })

  it('that throw, at once or later, go to observer:error and nowhere else', async () => {
    const { agent } = build(['ok'])
    const failed: string[] = []
    agent.on('turn:start', () => {
      throw new Error('at once')
    })
    agent.on('turn:end', async () => {
      throw new Error('later')
    })
    agent.on('observer:error', ({ event, error }) => failed.push(`${event} ${(error as Error).message}`))
    agent.on('observer:error', () => {
      throw new Error('even here')
    })
    expect((await agent.run('hi')).status).toBe('completed')
    await rest()
    expect(failed).toEqual(['turn:start at once', 'turn:end later'])
  })

  it('cannot delay a run or change what it gives', async () => {
    const { agent } = build(oneCall, [], { tools: [tool('work')] })
    for (const name of names)
      agent.on(name, (event: AgentEvents[typeof name]) => {
        const target = event as unknown as Record<string, unknown>
        for (const key of Object.keys(target))
          try {
            target[key] = 'forged'
          } catch {}
        return new Promise(() => {})
      })
    const session = agent.session()
    const { text, usage, toolCalls } = await session.run('hi')
    expect([text, usage.calls, toolCalls[0]?.result.content]).toEqual(['done', 2, 'worked'])
    expect(JSON.stringify(session.history)).not.toContain('forged')
  })

  it('listen once, and stop by off()', async () => {
    const { agent } = build(['a', 'b', 'c'])
    const seen: string[] = []
    const always = () => seen.push('always')
    agent.on('turn:start', always)
    agent.on('turn:start', always)
    agent.once('turn:start', () => seen.push('once'))
    await agent.run('1')
    agent.off('turn:start', always)
    agent.off('turn:end', always)
    await agent.run('2')
    expect(seen).toEqual(['always', 'once'])
  })

  it('get what layers emit, by its type, also from outside a turn', async () => {
    const layer: Middleware = {
      name: 'emitter',
      async session(ctx, next) {
        ctx.emit({ type: 'test:open', n: 1 })
        await next()
      },
      turn(ctx, next) {
        ctx.emit({ type: 'test:turn', n: 2 })
        return next()
      },
    }
    const { agent } = build(['ok'], [layer])
    const seen: unknown[] = []
    agent.on('test:open', (event) => seen.push(event))
    agent.on('test:turn', (event) => seen.push(event))
    await agent.run('hi')
    expect(seen).toEqual([
      { type: 'test:open', n: 1 },
      { type: 'test:turn', n: 2 },
    ])
  })

  it('learn what was thrown, which the stream does not tell', async () => {
    const error = new Error('SECRET-TOKEN')
    const { agent } = build(oneCall, [], {
      tools: [
        tool('work', () => {
          throw error
        }),
      ],
    })
    const seen: unknown[] = []
    agent.on('tool:end', (event) => seen.push(event.error))
    await agent.run('hi')
    expect(seen).toEqual([error])
  })

  it('are gone after off(), also one that was to hear a single event', async () => {
    const { agent } = build(['one', 'two', 'three'])
    const heard: string[] = []
    const listener = () => heard.push('once')
    agent.once('turn:end', listener).once('turn:end', listener).off('turn:end', listener)
    await agent.run('1')
    agent.once('turn:end', listener)
    await agent.run('2')
    await agent.run('3')
    expect(heard).toEqual(['once'])
    const both = () => heard.push('both')
    agent.on('turn:start', both).once('turn:start', both).off('turn:start', both)
    await agent.run('4').catch(() => {})
    expect(heard).toEqual(['once'])
  })
})
