import { describe, expect, it } from 'vitest'
import { manualClock } from '../../testing/src/index.ts'
import { AbortError, type Middleware, type TurnContext } from '../src/index.ts'
import { assistantTexts, build, gate, oneCall, only, rest, settled, tool, turn } from './kit.ts'

/** Leaves what is inside as soon as this signal fires, and answers by itself. */
const leaver = (late: AbortController, answer: string): Middleware => ({
  name: 'leaver',
  async turn(ctx, next) {
    await next({ signal: late.signal }).catch(() => {
      ctx.output = answer
    })
  },
})

describe('a layer that unwinds', () => {
  it('learns from its next() that what hangs inside was given up, once nobody waits for it', async () => {
    const clock = manualClock()
    const late = new AbortController()
    const hangs = gate()
    const told: unknown[] = []
    const around: Middleware = {
      name: 'around',
      turn: (_, next) => next().catch((error) => void told.push(error.message)),
    }
    const deaf: Middleware = {
      name: 'deaf',
      turn: () => {
        hangs.open()
        return new Promise(() => {})
      },
    }
    const { agent } = build([], [leaver(late, 'instead'), around, deaf], { clock, gracePeriod: 50 })
    const ended = settled(agent.session().run('hi'))
    await hangs.promise
    late.abort(new Error('too late'))
    await rest()
    const before = [...told]
    await clock.advance(60)
    expect([before, told, (await ended).result?.text]).toEqual([[], ['too late'], 'instead'])
  })

  it('sets the answer of an aborted run no more, once one outside has left it', async () => {
    const late = new AbortController()
    const sets: Middleware = {
      name: 'sets',
      async turn(ctx, next) {
        await next()
        ctx.stop('enough')
        run?.abort('from outside')
        late.abort(new Error('too late'))
        await rest()
        ctx.output = 'hello, at last'
      },
    }
    const { agent } = build(['hello'], [leaver(late, 'instead'), sets])
    const session = agent.session()
    const run = session.run('hi')
    const { error } = await settled(run)
    expect([error?.partial.text, session.history.at(-1)?.content]).toEqual(['hello', 'hello'])
  })
})

describe('a layer that has returned', () => {
  it('changes the answer no more', async () => {
    let kept: TurnContext | undefined
    const writes: Middleware = {
      name: 'writes',
      async turn(_, next) {
        await next()
        if (kept !== undefined) kept.output = 'mine'
      },
    }
    const returned: Middleware = {
      name: 'returned',
      turn(ctx, next) {
        kept = ctx
        return next()
      },
    }
    const { result, shown } = await turn(['hello'], [writes, returned])
    expect([result?.text, shown]).toEqual(['hello', 'hello'])
  })
})

describe('a run that ends', () => {
  it('shows of answers that were held together the last, where it is aborted later', async () => {
    const holds: Middleware = {
      name: 'holds',
      turn(ctx, next) {
        ctx.hold()
        return next()
      },
    }
    const aborts: Middleware = {
      name: 'aborts',
      async turn(ctx, next) {
        await next()
        ctx.abort('enough')
      },
    }
    const steps = [{ text: 'one', toolCalls: [{ name: 'work', callId: 'c1' }] }, 'two']
    const { error, session } = await turn(steps, [aborts, holds], { tools: [tool('work')] })
    expect([error?.partial.text, session.history.at(-1)?.content]).toEqual(['two', 'two'])
  })

  it('by a failure behind its tools has in the history what was shown', async () => {
    const stars: Middleware = {
      name: 'stars',
      turn(ctx, next) {
        ctx.onChunk((chunk) => (chunk.type === 'text-delta' ? { ...chunk, delta: `${chunk.delta}*` } : chunk))
        return next()
      },
    }
    const fails: Middleware = {
      name: 'fails',
      async turn(ctx, next) {
        ctx.pipe(async function* (chunks) {
          yield* chunks
          yield { type: 'text-delta', delta: ']' }
        })
        await next()
        throw new Error('no')
      },
    }
    const stops = tool('work', (_, ctx) => void (ctx as unknown as TurnContext).stop('enough'))
    const steps = [{ text: 'one', toolCalls: [{ name: 'work', callId: 'c1' }] }]
    const { all, session, error } = await turn(steps, [stars, fails], { tools: [stops] })
    const said = assistantTexts(session.history)
    expect([all, said, error?.partial.text]).toEqual(['one*]*]*', ['one*]*]*'], 'one*]*]*'])
  })

  it('as a failure is none that an abort still changes, while layers unwind', async () => {
    const unwinds = gate()
    const slow: Middleware = { name: 'slow', turn: () => unwinds.promise }
    const fails: Middleware = {
      name: 'fails',
      async turn(_, next) {
        next().catch(() => {})
        await rest()
        throw new Error('no')
      },
    }
    const { agent } = build([], [fails, slow])
    const run = agent.session().run('hi')
    const ended = settled(run)
    await rest()
    await rest()
    run.abort('from outside')
    unwinds.open()
    const { error } = await ended
    expect([error?.message, error instanceof AbortError]).toEqual(['no', false])
  })

  it('as completed is not stopped any more, while layers unwind', async () => {
    const [unwinds, answered] = [gate(), gate()]
    let kept: TurnContext | undefined
    const keeps: Middleware = {
      name: 'keeps',
      async turn(ctx, next) {
        kept = ctx
        await next()
        answered.open()
      },
    }
    const leaves: Middleware = {
      name: 'leaves',
      async model(_, next) {
        const late = new AbortController()
        const inside = next({ signal: late.signal }).catch(() => {})
        late.abort(new Error('too late'))
        await inside
        return 'instead'
      },
    }
    const slow: Middleware = { name: 'slow', model: () => unwinds.promise as never }
    const { agent } = build([], [keeps, leaves, slow])
    const ended = settled(agent.session().run('hi'))
    await answered.promise
    await rest()
    kept?.stop('too late')
    unwinds.open()
    expect((await ended).result).toMatchObject({ status: 'completed', text: 'instead' })
  })

  it('begins no tool that its answer has asked for', async () => {
    const ran: string[] = []
    const work = tool('work', () => ran.push('work'))
    const { agent } = build(oneCall, [], { tools: [work] })
    const run = agent.session().run('hi')
    agent.on('model:end', () => run.abort('enough'))
    agent.on('tool:start', () => ran.push('start'))
    const { error } = await settled(run)
    expect([error instanceof AbortError, ran]).toEqual([true, []])
  })

  it('tells of a call whose answer was on its way when the loop was left that it has ended', async () => {
    const late = new AbortController()
    const stuck: Middleware = {
      name: 'stuck',
      turn(ctx, next) {
        ctx.pipe(async function* (chunks) {
          for await (const chunk of chunks) yield chunk
          late.abort(new Error('too late'))
          await new Promise(() => {})
        })
        return next()
      },
    }
    const { agent } = build(oneCall, [leaver(late, 'instead'), stuck], { tools: [tool('work')] })
    const ends: { type: string }[] = []
    agent.on('model:end', (event) => ends.push(event))
    const { result } = await settled(agent.session().run('hi'))
    await rest()
    expect([result?.text, only(ends, 'model:end').map(({ error }) => (error as Error).message)]).toEqual([
      'instead',
      ['too late'],
    ])
  })
})
