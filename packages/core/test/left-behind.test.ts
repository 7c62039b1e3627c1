import { describe, expect, it } from 'vitest'
import { manualClock } from '../../testing/src/index.ts'
import type { Journal, Middleware, ModelContext, ToolExecution, TurnContext } from '../src/index.ts'
import { build, gate, oneCall, only, rest, settled, tool, turn } from './kit.ts'

/** What is thrown, by its code. */
function codeOf(act: () => unknown): unknown {
  try {
    return act()
  } catch (error) {
    return (error as { code?: string }).code
  }
}

/** Leaves the turn inside it by a signal, then answers itself. */
function leaving(signal: AbortSignal, then: () => unknown): Middleware {
  return {
    name: 'leaver',
    async turn(ctx, next) {
      await next({ signal }).catch(() => {})
      await then()
      ctx.output = 'instead'
    },
  }
}

describe('what is too late', () => {
  it('is what a layer tries that had returned, once the turn around its call was left', async () => {
    const late = new AbortController()
    const seen: unknown[] = []
    let kept: ModelContext | undefined
    const leaver = leaving(late.signal, () => seen.push(codeOf(() => kept?.block('late'))))
    const returned: Middleware = {
      name: 'returned',
      model(ctx, next) {
        kept = ctx
        return next()
      },
    }
    const work = tool('work', () => late.abort(new Error('too late')))
    const { result } = await turn(oneCall, [leaver, returned], { tools: [work] })
    expect([result?.status, result?.text, seen]).toEqual(['completed', 'instead', ['layer.abandoned']])
  })

  it('is what a layer tries whose answer was on its way when it was left', async () => {
    const late = new AbortController()
    const seen: unknown[] = []
    let kept: ModelContext | undefined
    const leaver = leaving(late.signal, async () => {
      await rest()
      seen.push(codeOf(() => kept?.block('late')))
    })
    const stuck: Middleware = {
      name: 'stuck',
      turn(ctx, next) {
        ctx.pipe(async function* (chunks) {
          for await (const chunk of chunks) {
            void rest().then(() => late.abort(new Error('too late')))
            await new Promise(() => {})
            yield chunk
          }
        })
        return next()
      },
    }
    const answers: Middleware = {
      name: 'answers',
      model(ctx) {
        kept = ctx
        const toolCalls = [{ callId: 'c1', name: 'work', args: {} }]
        return ctx.skipCall({ text: 'mine', toolCalls })
      },
    }
    const { result } = await turn([], [leaver, stuck, answers], { tools: [tool('work')] })
    expect([result?.status, result?.text, seen]).toEqual(['completed', 'instead', ['layer.abandoned']])
  })

  it('is what a layer tries that has thrown, while pipes around it drain', async () => {
    const seen: unknown[] = []
    let kept: ModelContext | undefined
    const drains: Middleware = {
      name: 'drains',
      model(ctx, next) {
        ctx.pipe(async function* (chunks, end) {
          for await (const chunk of chunks) yield chunk
          await end()
          seen.push(codeOf(() => kept?.block('late')))
        })
        return next().catch(() => 'instead')
      },
    }
    const throws: Middleware = {
      name: 'throws',
      model(ctx) {
        kept = ctx
        throw new Error('no')
      },
    }
    const { result } = await turn([], [drains, throws])
    expect([result?.status, result?.text, seen]).toEqual(['completed', 'instead', ['layer.abandoned']])
  })

  it('is what a tool tries past its timeout', async () => {
    const clock = manualClock()
    const timedOut = gate()
    const tried = gate<unknown>()
    const work = tool(
      'work',
      async (_: unknown, ctx: ToolExecution) => {
        await timedOut.promise
        tried.open(codeOf(() => (ctx as unknown as TurnContext).block('late')))
      },
      { timeout: 50 },
    )
    const { agent, model } = build(oneCall, [], { tools: [work], clock })
    agent.on('tool:end', () => timedOut.open())
    const ended = settled(agent.session().run('hi'))
    await clock.advance(60)
    expect([(await ended).result?.status, model.calls, await tried.promise]).toEqual([
      'completed',
      2,
      'layer.abandoned',
    ])
  })

  it('is the rest of an answer that was on its way when its layer was left', async () => {
    const late = new AbortController()
    let stuck = true
    const slow: Middleware = {
      name: 'slow',
      turn(ctx, next) {
        ctx.pipe(async function* (chunks) {
          for await (const chunk of chunks) {
            if (stuck) await rest().then(() => late.abort(new Error('too late')))
            stuck = false
            yield chunk
          }
        })
        return next()
      },
    }
    const leaver: Middleware = {
      name: 'leaver',
      async model(_, next) {
        await next({ signal: late.signal }).catch(() => {})
        return 'instead'
      },
    }
    const answers: Middleware = {
      name: 'answers',
      model: (ctx) => ctx.skipCall({ text: 'mine', toolCalls: [{ callId: 'c1', name: 'work', args: {} }] }),
    }
    const { result, events } = await turn([], [slow, leaver, answers], { tools: [tool('work')] })
    expect([result?.text, only(events, 'tool-input-start')]).toEqual(['instead', []])
  })

  it('is what a journal gives of a call that was left', async () => {
    const late = new AbortController()
    const given = gate()
    const journal: Journal = {
      step: (_, work, emit) =>
        work((chunk) => {
          // The first item tells what the model was asked.
          if ((chunk as { type?: string }).type !== 'text-delta') return emit(chunk)
          late.abort(new Error('too late'))
          return rest().then(async () => {
            await emit(chunk)
            given.open()
          })
        }),
    }
    const leaver: Middleware = {
      name: 'leaver',
      async model(_, next) {
        await next({ signal: late.signal }).catch(() => {})
        await given.promise
        return 'instead'
      },
    }
    const { result, all } = await turn([{ chunks: ['never'], stall: true }], [leaver], { journal })
    expect([result?.text, all]).toEqual(['instead', 'instead'])
  })

  it('is what a pipe of the layer that left still holds', async () => {
    const late = new AbortController()
    const held = gate()
    const leaver: Middleware = {
      name: 'leaver',
      async model(ctx, next) {
        ctx.pipe(async function* (chunks) {
          for await (const chunk of chunks) {
            late.abort(new Error('too late'))
            await held.promise
            yield chunk
          }
        })
        await next({ signal: late.signal }).catch(() => held.open())
        await rest()
        return 'mine'
      },
    }
    const { result, all } = await turn([{ chunks: ['never'], stall: true }], [leaver])
    expect([result?.text, all]).toEqual(['mine', 'mine'])
  })
})

it('a next() runs until the pipes around it have drained: to return before is an error', async () => {
  const held = gate()
  const hasty: Middleware = {
    name: 'hasty',
    async model(ctx, next) {
      const draining = gate()
      ctx.pipe(async function* (chunks, end) {
        for await (const chunk of chunks) yield chunk
        await end()
        draining.open()
        await held.promise
      })
      void next().catch(() => {})
      await draining.promise
      return 'mine'
    },
  }
  const { error } = await turn([{ error: new Error('down') }], [hasty])
  expect(error).toMatchObject({ code: 'layer.floating_next', details: { layer: 'hasty' } })
})

it('layers around one that hangs learn that it is given up from the inside out', async () => {
  const clock = manualClock()
  const told: string[] = []
  const around = (name: string): Middleware => ({ name, turn: (_, next) => next().finally(() => void told.push(name)) })
  const hangs: Middleware = { name: 'hangs', turn: () => new Promise<never>(() => {}) }
  const layers = [around('first'), around('second'), around('third'), hangs]
  const run = build([], layers, { clock, gracePeriod: 100 }).agent.session().run('hi')
  const ended = settled(run)
  await clock.advance(10)
  run.abort('enough')
  for (let i = 0; i < 30; i++) await clock.advance(10)
  expect([(await ended).error?.name, told]).toEqual(['AbortError', ['third', 'second', 'first']])
})

it('who has read the signal of a narrowed next() is told of an abort after that has settled', async () => {
  let kept: AbortSignal | undefined
  const layers: Middleware[] = [
    {
      name: 'aborts',
      async turn(ctx, next) {
        await next()
        ctx.abort('enough')
      },
    },
    { name: 'narrows', model: (_, next) => next({ signal: new AbortController().signal }) },
    {
      name: 'reads',
      model(ctx, next) {
        kept = ctx.signal
        return next()
      },
    },
  ]
  await turn(['fine'], layers)
  expect(kept?.aborted).toBe(true)
})

it('the layers outside see the call as the inner ones left it, once next() has succeeded', async () => {
  const seen: unknown[] = []
  const sees: Middleware = {
    name: 'sees',
    async model(ctx, next) {
      const response = await next()
      seen.push(ctx.messages.at(-1)?.content, ctx.settings)
      return response
    },
    async tool(ctx, next) {
      const result = await next()
      seen.push(ctx.args)
      return result
    },
  }
  const changes: Middleware = {
    name: 'changes',
    model(ctx, next) {
      ctx.addMessage({ role: 'user', content: 'added' })
      ctx.settings = { temperature: 0 }
      return next()
    },
    tool(ctx, next) {
      ctx.modifyArgs({ n: 1 })
      return next()
    },
  }
  await turn(oneCall, [sees, changes], { tools: [tool('work')] })
  expect(seen).toEqual(['added', { temperature: 0 }, { n: 1 }, 'added', { temperature: 0 }])
})

it('a layer that has returned changes nothing in place of what the layers outside have from it', async () => {
  const seen: unknown[] = []
  const act: (() => void)[] = []
  const sees: Middleware = {
    name: 'sees',
    async model(ctx, next) {
      const response = await next()
      act.pop()?.()
      seen.push(ctx.request.messages.at(-1)?.content, ctx.settings, ctx.toolChoice)
      return response
    },
    async tool(ctx, next) {
      const result = await next()
      act.pop()?.()
      seen.push(ctx.args)
      return result
    },
  }
  const late: Middleware = {
    name: 'late',
    reenters: true,
    model(ctx, next) {
      ctx.addMessage({ role: 'user', content: 'in time' })
      ctx.settings.temperature = 0
      act.push(() => {
        ctx.addMessage({ role: 'user', content: 'late' })
        ctx.settings.temperature = 1
        ctx.toolChoice = 'none'
      })
      return next()
    },
    tool(ctx, next) {
      ctx.args.n = 1
      act.push(() => void (ctx.args.n = 2))
      return next()
    },
  }
  await turn(oneCall, [sees, late], { tools: [tool('work')] })
  expect(seen).toEqual(['in time', { temperature: 0 }, 'auto', { n: 1 }, 'in time', { temperature: 0 }, 'auto'])
})

describe('what a call or a run that is over leaves behind', () => {
  /** Goes on without what its next() still runs, which is an error. */
  const hasty: Middleware = {
    name: 'hasty',
    async tool(_, next) {
      void next().catch(() => {})
      await rest()
      return 'mine'
    },
  }

  it('is a tool that is told, though no signal fired around it', async () => {
    const told: unknown[] = []
    const work = tool('work', (_, { signal }) => {
      signal.addEventListener('abort', () => told.push(signal.reason.code))
      return new Promise(() => {})
    })
    await turn(oneCall, [hasty], { tools: [work] })
    expect(told).toEqual(['layer.floating_next'])
  })

  it('is no step of the journal that waits for a tool', async () => {
    const seen: unknown[] = []
    const journal: Journal = {
      step(id, work, emit) {
        const step = work(emit)
        if (id.includes(':tool:')) Promise.resolve(step).catch(({ name, cause }) => seen.push(name, cause.code))
        return step
      },
    }
    await turn(oneCall, [hasty], { journal, tools: [tool('work', () => new Promise(() => {}))] })
    expect(seen).toEqual(['LeftError', 'layer.floating_next'])
  })

  it('is a history that has the results at once', async () => {
    const late = new AbortController()
    const seen: unknown[] = []
    const leaver: Middleware = {
      name: 'leaver',
      async turn(ctx, next) {
        await next({ signal: late.signal }).catch(() => {})
        seen.push(ctx.history.at(-1)?.role)
        ctx.output = 'instead'
      },
    }
    const work = tool('work', () => {
      late.abort(new Error('too late'))
      return new Promise(() => {})
    })
    await turn(oneCall, [leaver], { tools: [work] })
    expect(seen).toEqual(['tool'])
  })
})

it('a block beats a failure that came before it', async () => {
  const guard: Middleware = {
    name: 'guard',
    turn: (ctx, next) => next().finally(() => ctx.block('not allowed')),
  }
  const fails: Middleware = {
    name: 'fails',
    tool() {
      throw new Error('broken')
    },
  }
  const { result } = await turn(oneCall, [guard, fails], { tools: [tool('work')] })
  expect([result?.status, result?.reason]).toEqual(['blocked', 'not allowed'])
})

it('what a layer changes in place while its next() runs, the tool inside does not see', async () => {
  const got: unknown[] = []
  const outer: Middleware = {
    name: 'outer',
    tool(ctx, next) {
      ctx.args.n = 1
      const inside = next()
      ctx.args.n = 2
      return inside
    },
  }
  const slow: Middleware = { name: 'slow', tool: (_, next) => rest().then(() => next()) }
  await turn(oneCall, [outer, slow], { tools: [tool('work', (args) => got.push(args.n))] })
  expect(got).toEqual([1])
})

it('what a layer that has returned says behind turn:end, nobody hears', async () => {
  const heard: string[] = []
  let kept: TurnContext | undefined
  const { agent } = build(
    ['fine'],
    [
      (ctx, next) => {
        kept = ctx
        return next()
      },
    ],
  )
  agent.on('case:late' as never, () => heard.push('late') as never)
  const run = agent.session().run('hi')
  await run
  kept?.emit({ type: 'case:late' })
  for await (const { type } of run) heard.push(type)
  expect([heard.includes('late'), heard.at(-1)]).toEqual([false, 'turn:end'])
})

it('a pipe whose call was left is told so', async () => {
  const late = new AbortController()
  const reason = new Error('too late')
  const told: unknown[] = []
  const leaver: Middleware = {
    name: 'leaver',
    async model(ctx, next) {
      ctx.pipe(async function* (chunks, end) {
        void end().then(({ error }) => told.push(error))
        for await (const chunk of chunks) {
          late.abort(reason)
          yield chunk
        }
      })
      await next({ signal: late.signal }).catch(() => {})
      return 'instead'
    },
  }
  await turn([{ chunks: ['a'], stall: true }], [leaver])
  expect(told).toEqual([reason])
})
