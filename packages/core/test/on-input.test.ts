import { describe, expect, it } from 'vitest'
import { scriptedModel } from '../../testing/src/index.ts'
import { onDisplay } from '../src/context.ts'
import { Agent, delegate, type Middleware } from '../src/index.ts'
import { failure, rest } from './kit.ts'

const upper = (name: string, more: Partial<Middleware> = {}): Middleware => ({
  name,
  turn(ctx, next) {
    ctx.onInput(async (message) => ({ ...message, content: `${message.content}<${name}` }))
    return next()
  },
  ...more,
})

/** An agent whose tool asks another one. */
function family(layers: readonly Middleware[]) {
  const inner = scriptedModel(['Found.'])
  const child = new Agent({ name: 'child', model: inner })
  const ask = {
    name: 'ask',
    description: 'Asks',
    jsonSchema: { type: 'object' },
    execute: async (_: unknown, ctx: never) => (await delegate(ctx, child, 'who?'))?.text,
  }
  const model = scriptedModel([{ toolCalls: [{ name: 'ask', args: {} }] }, 'Done.'])
  return { agent: new Agent({ model, tools: [ask as never] }).use(layers), inner, model, child }
}

describe('ctx.onInput', () => {
  it('sees the input at next(), outermost first, and the history keeps what it gave', async () => {
    const { agent, model } = family([upper('a'), upper('b')])
    const session = agent.session()
    await session.run('hi')
    expect([session.history[0]?.content, model.requests[0]?.messages[0]?.content]).toEqual(['hi<a<b', 'hi<a<b'])
  })

  it('leaves out what it gives null for, and leaves what it says nothing of', async () => {
    const pick: Middleware = {
      name: 'pick',
      turn(ctx, next) {
        ctx.onInput((message) => (message.content === 'no' ? null : undefined))
        return next()
      },
    }
    const { agent, model } = family([pick])
    await agent.run([
      { role: 'user', content: 'no' },
      { role: 'user', content: 'yes' },
    ])
    expect(model.requests[0]?.messages.map(({ content }) => content)).toEqual(['yes'])
  })

  it('sees what a tool gives to a sub-agent, where that inherits the layer', async () => {
    const { agent, inner } = family([upper('kept', { inherit: true }), upper('own')])
    await agent.run('hi')
    expect(inner.requests[0]?.messages[0]?.content).toBe('who?<kept')
  })

  it('blocks the turn of the agent that it belongs to by what a sub-agent is given', async () => {
    const wall: Middleware = {
      name: 'wall',
      inherit: true,
      turn(ctx, next) {
        ctx.onInput(({ content }) => (content === 'who?' ? ctx.block('not that') : undefined))
        return next()
      },
    }
    const { agent, inner } = family([wall])
    const { status, reason } = await agent.run('hi')
    expect([status, reason, inner.calls]).toEqual(['blocked', 'not that', 0])
  })

  it('fails next() with what it throws, and refuses to be called after next()', async () => {
    const throws: Middleware = {
      name: 'throws',
      turn(ctx, next) {
        ctx.onInput(() => Promise.reject(new Error('down')))
        return next()
      },
    }
    await expect(family([throws]).agent.run('hi')).rejects.toThrow('down')
    const late: Middleware = { name: 'late', turn: (ctx, next) => next().then(() => ctx.onInput(() => {})) }
    await expect(family([late]).agent.run('hi')).rejects.toMatchObject({ code: 'layer.late_transform' })
  })

  it('a layer that is gone before its input was seen opens nothing behind it', async () => {
    const hasty: Middleware = {
      name: 'hasty',
      turn(ctx, next) {
        ctx.onInput(async (message) => message)
        void next().catch(() => {})
        ctx.output = 'mine'
      },
    }
    const { agent, model } = family([hasty])
    await agent.run('hi').settled()
    expect(model.calls).toBe(0)
  })
})

describe('onDisplay()', () => {
  const stars: Middleware = {
    name: 'stars',
    turn(ctx, next) {
      onDisplay(ctx, () => {
        let kept = ''
        const push = (piece: string) => {
          const all = kept + piece
          kept = all.endsWith('a') ? 'a' : ''
          return (kept === '' ? all : all.slice(0, -1)).replaceAll('ab', '*')
        }
        return { push, end: () => kept }
      })
      return next()
    },
  }
  const seen = async (chunks: readonly string[]) => {
    const observed: string[] = []
    const agent = new Agent({ model: scriptedModel([{ chunks: [...chunks] }]) }).use(stars)
    agent.on('model:chunk', ({ chunk }) => void ('delta' in chunk && observed.push(chunk.delta)))
    const session = agent.session()
    const run = session.run('hi')
    let shown = ''
    for await (const text of run.textStream) shown += text
    return { shown, text: (await run).text, observed: observed.join(''), history: session.history[1]?.content }
  }

  it('maps what the reader of the run gets, over the edges of chunks, and nothing else', async () => {
    const raw = 'xaby'
    const all = { shown: 'x*y', text: 'x*y', observed: raw, history: raw }
    for (const chunks of [['xaby'], ['xa', 'by'], ['x', 'a', 'b', 'y']]) expect(await seen(chunks)).toEqual(all)
  })

  it('gives what it has kept back before the stream ends', async () => {
    expect(await seen(['xa'])).toMatchObject({ shown: 'xa', text: 'xa' })
  })
})

describe('what an approver sees', () => {
  it('is what is to run, sealed with the call; the history keeps what the model sent', async () => {
    const put: Middleware = {
      name: 'put',
      tool(ctx, next) {
        ctx.modifyArgs({ to: 'dana@example.com' })
        return next()
      },
    }
    const send = { name: 'send', description: 'Sends', jsonSchema: {}, requireApproval: true, execute: () => 'sent' }
    const model = scriptedModel([{ toolCalls: [{ name: 'send', callId: 'c1', args: { to: '[EMAIL_1]' } }] }, 'Sent.'])
    const session = new Agent({ model, tools: [send] }).use(put).session()
    await session.run('go')
    expect(session.pending[0]?.args).toEqual({ to: 'dana@example.com' })
    expect(JSON.stringify(session.history)).not.toContain('dana')
    const snapshot = session.snapshot()
    session.restore(JSON.parse(JSON.stringify(snapshot).replace('dana@', 'eve@')))
    await expect(session.resume({ c1: { approve: true } })).rejects.toMatchObject({ code: 'approval.forged' })
    session.restore(snapshot)
    expect((await session.resume({ c1: { approve: true } })).text).toBe('Sent.')
  })

  it('that hangs holds up no run that is aborted: next() rejects at once', async () => {
    const seen: unknown[] = []
    const hangs: Middleware = {
      name: 'hangs',
      async turn(ctx, next) {
        ctx.onInput(() => new Promise(() => {}))
        await next().catch((error: Error) => {
          seen.push(error.name)
          throw error
        })
      },
    }
    const { agent, model } = family([hangs])
    const run = agent.run('hi')
    const ended = failure(run)
    await rest()
    run.abort('enough')
    expect([(await ended).name, seen, model.calls]).toEqual(['AbortError', ['AbortError'], 0])
  })

  it('that fails behind a next() which nobody awaits fails the run, and ends no process', async () => {
    const floats: Middleware = {
      name: 'floats',
      async turn(ctx, next) {
        ctx.onInput(() => Promise.reject(new Error('no')))
        void next()
      },
    }
    const { agent } = family([floats])
    expect((await failure(agent.run('hi'))).code).toBe('layer.no_next')
    await rest()
  })
})
