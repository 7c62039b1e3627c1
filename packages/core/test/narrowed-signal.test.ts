import { describe, expect, it } from 'vitest'
import type { Middleware, Model, ModelContext } from '../src/index.ts'
import { build, failure, gate, oneCall, rest, results, tool, turn } from './kit.ts'

/** A model that streams a word, then ignores every signal. */
const deaf: Model = {
  id: 'deaf',
  async *stream() {
    yield { type: 'text-delta', delta: 'never' }
    await new Promise(() => {})
  },
}

describe('next({ signal })', () => {
  it('rejects with the reason when the signal aborts, even if the model ignores it, and the layer may go on', async () => {
    const reason = new Error('too slow')
    const reasons: unknown[] = []
    const layer: Middleware = {
      name: 'impatient',
      async model(ctx, next) {
        const controller = new AbortController()
        setTimeout(() => controller.abort(reason), 1)
        try {
          return await next({ signal: controller.signal })
        } catch (error) {
          reasons.push(error)
          ctx.setModel(model)
          return next()
        }
      },
    }
    const { model } = build(['fallback'])
    const { result, shown } = await turn([], [layer], { model: deaf })
    expect(reasons).toEqual([reason])
    expect([result?.text, shown]).toEqual(['fallback', 'fallback'])
  })

  it('narrows ctx.signal for what is inside, beside the run', async () => {
    const seen: boolean[] = []
    const controller = new AbortController()
    const layers: Middleware[] = [
      {
        name: 'narrower',
        async model(ctx, next) {
          const running = next({ signal: controller.signal })
          controller.abort()
          await running.catch(() => {})
          seen.push(ctx.signal.aborted)
          return 'mine'
        },
      },
      {
        name: 'inner',
        async model(ctx) {
          const { signal } = ctx
          await rest()
          seen.push(signal.aborted)
          return 'late'
        },
      },
    ]
    const { result } = await turn([], layers)
    await rest()
    expect(result?.text).toBe('mine')
    expect(seen).toEqual([false, true])
  })

  it('follows the run also where its signal is read first when the call has ended', async () => {
    let kept: ModelContext | undefined
    const seen: boolean[] = []
    const layers: Middleware[] = [
      {
        name: 'aborts',
        async turn(ctx, next) {
          await next()
          const signal = kept?.signal
          seen.push(signal?.aborted === true)
          try {
            ctx.abort('enough')
          } finally {
            seen.push(signal?.aborted === true)
          }
        },
      },
      { name: 'narrower', model: (_, next) => next({ signal: new AbortController().signal }) },
      {
        name: 'inner',
        model(ctx, next) {
          kept = ctx
          return next()
        },
      },
    ]
    await turn(['hello'], layers)
    expect(seen).toEqual([false, true])
  })

  it('follows the run: an abort of the run aborts the narrowed signal', async () => {
    const seen: boolean[] = []
    const layers: Middleware[] = [
      { name: 'narrower', model: (_, next) => next({ signal: new AbortController().signal }) },
      {
        name: 'inner',
        async model(ctx, next) {
          const { signal } = ctx
          return next().finally(() => seen.push(signal.aborted))
        },
      },
      { name: 'aborter', model: (ctx) => ctx.abort('enough') },
    ]
    const { error } = await turn([], layers)
    expect([error?.name, seen]).toEqual(['AbortError', [true]])
  })

  it('rejects at once with a signal that has aborted, without calling the model', async () => {
    const layer: Middleware = {
      name: 'late',
      model: (_, next) =>
        next({ signal: AbortSignal.abort(new Error('before')) }).catch((error) => `gave up: ${error.message}`),
    }
    const { result, model } = await turn(['never'], [layer])
    expect([result?.text, model.calls]).toEqual(['gave up: before', 0])
  })

  it('closes the provider and aborts its signal', async () => {
    const controller = new AbortController()
    const layer: Middleware = {
      name: 'narrower',
      async model(_, next) {
        setTimeout(() => controller.abort(new Error('too slow')), 1)
        return next({ signal: controller.signal }).catch(() => 'instead')
      },
    }
    const { model, result } = await turn([{ chunks: ['a'], stall: true }], [layer])
    await rest()
    expect([result?.text, model.closed, model.requests[0]?.signal.aborted]).toEqual(['instead', 1, true])
  })

  it('drops what a call that was left still sends', async () => {
    const layer: Middleware = {
      name: 'narrower',
      async model(_, next) {
        const controller = new AbortController()
        setTimeout(() => controller.abort(), 1)
        await next({ signal: controller.signal }).catch(() => {})
        return next()
      },
    }
    const chatty: Model = {
      id: 'chatty',
      async *stream() {
        const mine = calls++
        for (let i = 0; i < 3; i++) {
          yield { type: 'text-delta', delta: `${mine}` }
          if (mine === 0) await new Promise((resolve) => setTimeout(resolve, 2))
          else await rest()
        }
        yield { type: 'finish', reason: 'stop', usage: {} }
      },
    }
    let calls = 0
    const { shown, result } = await turn([], [layer], { model: chatty })
    expect([shown, result?.text]).toEqual(['111', '111'])
  })

  it('cancels a running tool and lets the layer answer', async () => {
    let aborted: boolean | undefined
    const slow = tool(
      'work',
      (_, { signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve((aborted = signal.aborted)))),
    )
    const layer: Middleware = {
      name: 'timeout',
      tool(_, next) {
        const controller = new AbortController()
        setTimeout(() => controller.abort(new Error('slow')), 1)
        return next({ signal: controller.signal }).catch((error) => ({
          content: `Gave up: ${error.message}`,
          isError: true,
        }))
      },
    }
    const { result, model } = await turn(oneCall, [layer], { tools: [slow] })
    expect(aborted).toBe(true)
    expect(result?.toolCalls[0]?.result).toMatchObject({ content: 'Gave up: slow', isError: true })
    expect(JSON.stringify(model.requests[1]?.messages)).toContain('Gave up: slow')
  })

  it('in a turn layer cancels the turn inside, and the layer may answer itself', async () => {
    const layer: Middleware = {
      name: 'deadline',
      async turn(ctx, next) {
        const controller = new AbortController()
        setTimeout(() => controller.abort(new Error('deadline')), 1)
        await next({ signal: controller.signal }).catch(() => {
          ctx.output = 'Sorry, too slow.'
        })
      },
    }
    const { result, shown, session } = await turn([], [layer], { model: deaf })
    expect([result?.status, result?.text, shown]).toEqual(['completed', 'Sorry, too slow.', 'Sorry, too slow.'])
    expect(session.history.map(({ content }) => content)).toEqual(['hi', 'Sorry, too slow.'])
  })

  it('leaves a layer inside that goes on after it was left with an error of its own', async () => {
    const late: unknown[] = []
    const controller = new AbortController()
    const layers: Middleware[] = [
      {
        name: 'leaver',
        model: (_, next) => {
          setTimeout(() => controller.abort(new Error('left')), 1)
          return next({ signal: controller.signal }).catch(() => 'instead')
        },
      },
      {
        name: 'stubborn',
        async model(_, next) {
          await new Promise((resolve) => setTimeout(resolve, 3))
          return next().catch((error) => {
            late.push(error.code)
            throw error
          })
        },
      },
    ]
    const { result, model } = await turn(['never'], layers)
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect([result?.text, model.calls, late]).toEqual(['instead', 0, ['layer.abandoned']])
  })

  it('ends with the run also where it is read late, inside two narrowed calls that are over', async () => {
    const late = gate()
    const aborted: boolean[] = []
    const narrow = (name: string): Middleware => ({
      name,
      turn: (_, next) => next({ signal: new AbortController().signal }),
    })
    const throws: Middleware = {
      name: 'throws',
      turn(_, next) {
        void next()
        throw new Error('at once')
      },
    }
    const left: Middleware = {
      name: 'left',
      async model(ctx, next) {
        await late.promise
        aborted.push(ctx.signal.aborted)
        return next()
      },
    }
    const { agent } = build(['never'], [narrow('outer'), narrow('inner'), throws, left])
    const run = failure(agent.run('hi'))
    await rest()
    late.open()
    expect([(await run).message, aborted]).toEqual(['at once', [true]])
  })

  it('in a turn, with tools running: finished ones keep their result, and the layer answers after them', async () => {
    const quick = tool('quick', () => 'done')
    const slow = tool('slow', (_, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', reject)))
    const calls = { text: 'Let me see.', toolCalls: [{ name: 'quick' }, { name: 'slow' }] }
    const deadline = new AbortController()
    const impatient: Middleware = {
      name: 'impatient',
      async turn(ctx, next) {
        ctx.on('tool:end', ({ name }) => name === 'quick' && deadline.abort())
        await next({ signal: deadline.signal }).catch(() => {})
        ctx.output = 'Sorry, that took too long.'
      },
    }
    const { result, session, all } = await turn([calls], [impatient], { tools: [quick, slow] })
    expect([result?.status, result?.text]).toEqual(['completed', 'Sorry, that took too long.'])
    expect(all).toBe('Let me see.Sorry, that took too long.')
    expect(session.history.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect(results(session.history)).toEqual({ 'call-1': 'done', 'call-2': 'Cancelled.' })
  })
})
