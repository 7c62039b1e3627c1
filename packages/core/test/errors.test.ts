import { describe, expect, it } from 'vitest'
import { AlliumError, BlockError, errorCodes, isAlliumError, type Middleware } from '../src/index.ts'
import { build, failure, oneCall, scopes, tool, turn } from './kit.ts'

class StatusError extends Error {
  readonly status = 503
}

type Next = () => Promise<never>
const places = {
  before: (error: unknown) => () => {
    throw error
  },
  beforeAsync: (error: unknown) => async () => {
    throw error
  },
  after: (error: unknown) => async (_: unknown, next: Next) => {
    await next()
    throw error
  },
  finally: (error: unknown) => async (_: unknown, next: Next) => {
    try {
      return await next()
    } finally {
      throwIt(error)
    }
  },
}
function throwIt(error: unknown): never {
  throw error
}

describe('errors of layers', () => {
  it.each(scopes.flatMap((scope) => Object.keys(places).map((place) => [place, scope] as const)))(
    'thrown %s in the %s scope go outward as they are and unwind the layers outside',
    async (place, scope) => {
      const error = new StatusError('mine')
      const log: string[] = []
      const outer = { name: 'outer', [scope]: (_: unknown, next: Next) => next().finally(() => log.push('outer')) }
      const thrower = { name: 'thrower', [scope]: places[place as keyof typeof places](error) }
      const { agent } = build(oneCall, [outer, thrower], { tools: [tool('work')] })
      const errors: unknown[] = []
      const meet = (promise: PromiseLike<unknown>) => promise.then(undefined, (caught) => void errors.push(caught))
      const session = agent.session()
      await meet(session.run('hi'))
      await meet(session.close())
      await meet(agent.dispose())
      expect(errors[0]).toBe(error)
      expect(log[0]).toBe('outer')
      expect(error.stack).toContain('errors.test.ts')
    },
  )

  it('keep the first where a finally throws another, which is kept beside it', async () => {
    const [first, second] = [new Error('first'), new Error('second')]
    const { error } = await turn([first], [{ name: 'cleanup', model: places.finally(second) as never }])
    expect(error).toBe(first)
    expect(error?.suppressed).toEqual([second])
  })

  it('are translated by an error that carries the first as its cause, or among its errors', async () => {
    const first = new Error('first')
    const translate = (make: (error: unknown) => Error): Middleware => ({
      name: 'translator',
      model: (_, next) =>
        next().catch((error) => {
          throw make(error)
        }),
    })
    const byCause = await turn([first], [translate((cause) => new Error('told', { cause }))])
    expect(byCause.error?.message).toBe('told')
    const byList = await turn([first], [translate((error) => new AggregateError([error], 'many'))])
    expect(byList.error?.message).toBe('many')
  })

  it('may be handled by a layer outside, which answers instead', async () => {
    const layer: Middleware = {
      name: 'handler',
      model: (_, next) => next().catch((error) => `Handled: ${error.message}`),
    }
    expect((await turn([new Error('down')], [layer])).result?.text).toBe('Handled: down')
  })

  it('swallowed by a turn layer without an answer are an error that names it', async () => {
    const cause = new Error('down')
    const layer: Middleware = { name: 'swallower', turn: (_, next) => next().catch(() => {}) }
    const { error } = await turn([cause], [layer])
    expect(error).toMatchObject({ code: 'layer.no_result', cause, message: expect.stringContaining('"swallower"') })
  })

  it('of an unusual kind are thrown as they are', async () => {
    const frozen = Object.freeze(new Error('frozen'))
    for (const thrown of ['a text', 7, null, undefined, frozen])
      expect(
        await failure(
          build(
            [],
            [
              () => {
                throw thrown
              },
            ],
          ).agent.run('hi'),
        ),
      ).toBe(thrown)
  })

  it('carry the partial answer', async () => {
    const { error, session } = await turn([{ chunks: ['Half'], error: new StatusError('cut') }])
    expect(error).toBeInstanceOf(StatusError)
    expect(error?.partial).toMatchObject({ text: 'Half', usage: { calls: 1 }, turnId: `${session.id}:0` })
    expect(session.history.at(-1)).toEqual({ role: 'assistant', content: 'Half', interrupted: true })
  })

  it('tell observers and the stream once', async () => {
    const { agent } = build([new Error('down')])
    const seen: string[] = []
    for (const name of ['error', 'turn:end', 'model:end'] as const)
      agent.on(name, (event) => seen.push(`${name} ${(event.error as Error).message}`))
    await failure(agent.run('hi'))
    expect(seen).toEqual(['model:end down', 'error down', 'turn:end down'])
  })

  it('of a model that streams nonsense are typed', async () => {
    const protocol = await turn([{ chunks: [{ type: 'text-delta', delta: 7 } as never] }])
    expect(protocol.error).toMatchObject({ code: 'model.protocol' })
    const cut = await turn([{ text: 'Half', cut: true }])
    expect(cut.error).toMatchObject({ code: 'model.truncated', partial: { text: 'Half' } })
    const cutCall = await turn([{ chunks: [{ type: 'tool-input-start', callId: 'x', name: 'work' }], cut: true }], [], {
      tools: [tool('work')],
    })
    expect(cutCall.error).toMatchObject({ code: 'model.truncated' })
  })

  it('ignore chunks of a kind that is not known', async () => {
    const { result } = await turn([{ chunks: ['a', { type: 'future', x: 1 } as never, 'b'] }])
    expect(result?.text).toBe('ab')
  })

  it.each([
    [7],
    [undefined],
    [[]],
    [{}],
    [{ role: 'wizard', content: 'x' }],
    [{ role: 'user' }],
    [{ role: 'user', content: [{ type: 'spell' }] }],
  ])('for the input %j are typed', async (input) =>
    expect(await failure(build(['never']).agent.run(input as never))).toMatchObject({ code: 'message.invalid' }),
  )
})

describe('AlliumError', () => {
  it('is told by its brand, and by its code', () => {
    const error = new AlliumError('session.busy', 'busy', { cause: 1, details: { a: 1 } })
    expect([
      isAlliumError(error),
      isAlliumError(error, 'session.busy'),
      isAlliumError(error, 'session.closed'),
    ]).toEqual([true, true, false])
    expect([isAlliumError(new Error('x')), isAlliumError(null), isAlliumError({ code: 'session.busy' })]).toEqual([
      false,
      false,
      false,
    ])
    expect(error).toMatchObject({ name: 'AlliumError', cause: 1, details: { a: 1 }, expose: false })
  })

  it('has a closed, sorted table of codes without repeats', () => {
    expect([...errorCodes].sort()).toEqual([...errorCodes])
    expect(new Set(errorCodes).size).toBe(errorCodes.length)
  })
})

it('a BlockError carries a code and how long to wait, for programs', () => {
  const error = new BlockError('the limit is reached', { reply: 'Later.', code: 'limit', retryAfter: 5000 })
  expect(error).toMatchObject({ reason: 'the limit is reached', reply: 'Later.', code: 'limit', retryAfter: 5000 })
  expect(new BlockError('no')).toMatchObject({ reply: undefined, code: undefined, retryAfter: undefined })
})
