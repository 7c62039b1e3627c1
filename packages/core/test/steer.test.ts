import { describe, expect, it } from 'vitest'
import { memoryJournal } from '../../store/src/journal.ts'
import type { Middleware, SteerInput } from '../src/index.ts'
import { build, failure, tool } from './kit.ts'

/** A tool that runs until it is told, between two answers. */
function slowTurn(layers: readonly Middleware[] = [], options: object = {}) {
  let finish = (_: string) => {}
  let begin = () => {}
  const begun = new Promise<void>((resolve) => (begin = resolve))
  const work = tool('work', () => {
    begin()
    return new Promise<string>((resolve) => (finish = resolve))
  })
  const steps = [{ toolCalls: [{ name: 'work', callId: 'c1' }] }, 'Done.', 'More.', 'Most.']
  const built = build(steps, layers, { tools: [work], ...options })
  return { ...built, session: built.agent.session({ id: 's' }), begun, finish: () => finish('worked') }
}
const sent = (
  model: { requests: readonly { messages: readonly { role: string; content: unknown }[] }[] },
  at: number,
) => model.requests[at]?.messages.map(({ role, content }) => (role === 'user' ? content : role))

const redact: Middleware = {
  name: 'redact',
  turn(ctx, next) {
    ctx.onInput(async (message) => ({ ...message, content: String(message.content).replace('secret', '[X]') }))
    return next()
  },
}
const wall: Middleware = {
  name: 'wall',
  turn(ctx, next) {
    ctx.onInput(async ({ content }) => {
      if (String(content).includes('bad')) ctx.block('no such words', { code: 'guard.input' })
    })
    return next()
  },
}

describe('run.steer', () => {
  it('puts a message before the next step, behind the tools that run, and into the history', async () => {
    const { session, model, begun, finish } = slowTurn()
    const run = session.run('hi')
    await begun
    const steered = run.steer('in French')
    finish()
    expect(await steered).toEqual({ delivered: true })
    await run
    expect(sent(model, 1)).toEqual(['hi', 'assistant', 'tool', 'in French'])
    expect(session.history.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user', 'assistant'])
  })

  it('asks a model once more that was about to end its turn, and keeps both answers', async () => {
    const layer: Middleware = {
      name: 'pipe',
      turn: (ctx, next) => {
        ctx.pipe((chunks) => chunks)
        return next()
      },
    }
    for (const layers of [[], [layer]]) {
      const { agent, model } = build(['One.', 'Two.'], layers)
      const session = agent.session()
      const run = session.run('hi')
      let steered: Promise<unknown> | undefined
      let text = ''
      for await (const event of run)
        if (event.type === 'text-delta') {
          steered ??= run.steer('and?')
          text += event.delta
        }
      expect([await steered, (await run).text, text]).toEqual([{ delivered: true }, 'Two.', 'One.Two.'])
      expect(sent(model, 1)).toEqual(['hi', 'assistant', 'and?'])
      expect(session.history.map(({ content }) => content)).toEqual(['hi', 'One.', 'and?', 'Two.'])
    }
  })

  it('keeps several in their order, and tells each by its id', async () => {
    const { session, model, begun, finish } = slowTurn()
    const run = session.run('hi')
    await begun
    void run.steer('a', { id: 'first' })
    void run.steer([{ type: 'text', text: 'b' }])
    finish()
    const told: unknown[] = []
    for await (const event of run) if (event.type === 'steer:delivered') told.push([event.id, event.stepIndex])
    expect(told).toEqual([
      ['first', 1],
      [expect.stringMatching(/:steered:1$/), 1],
    ])
    expect(sent(model, 1)?.slice(3)).toEqual(['a', [{ type: 'text', text: 'b' }]])
  })

  it('passes what guards do to an input', async () => {
    const { session, begun, finish } = slowTurn([redact, wall])
    const run = session.run('hi')
    await begun
    const [kept, refused] = [run.steer('my secret'), run.steer('bad')]
    finish()
    expect(await kept).toEqual({ delivered: true })
    expect(await refused).toEqual({ delivered: false, reason: 'no such words', code: 'guard.input' })
    expect((await run).status).toBe('completed')
    expect(session.history.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual([
      'hi',
      'my [X]',
    ])
  })

  it('ends the turn where a guard aborts it, and gives the message back', async () => {
    const guard: Middleware = {
      name: 'guard',
      turn(ctx, next) {
        ctx.onInput(({ content }) => (content === 'bad' ? ctx.abort('too bad') : undefined))
        return next()
      },
    }
    const { session, begun, finish } = slowTurn([guard])
    const run = session.run('hi')
    await begun
    const steered = run.steer('bad')
    finish()
    expect(await steered).toEqual({ delivered: false, reason: 'The run was aborted: too bad' })
    expect((await failure(run)).name).toBe('AbortError')
  })

  it('fails, and the turn goes on, where a layer goes by the input and would not see it', async () => {
    const reader: Middleware = { name: 'reader', turn: ({ input }, next) => (input.length === 0 ? undefined : next()) }
    const log: Middleware = { ...reader, name: 'log', order: { is: ['observes'] } }
    const { session, begun, finish } = slowTurn([log, reader])
    const run = session.run('hi')
    await begun
    expect(await failure(run.steer('x'))).toMatchObject({ code: 'steer.unguarded', details: { layer: 'reader' } })
    finish()
    expect((await run).text).toBe('Done.')
  })

  it('gives back what can no longer be heard, with the reason, and keeps nothing of it', async () => {
    const { session, begun, finish } = slowTurn([], { maxSteps: 1 })
    const run = session.run('hi')
    await begun
    const steered = run.steer('x', { id: 'mine' })
    finish()
    expect(await steered).toEqual({ delivered: false, reason: 'The turn was stopped: max_steps' })
    const returned = []
    for await (const event of run) if (event.type === 'steer:rejected') returned.push(event.id)
    expect(returned).toEqual(['mine'])
    expect(session.history.at(-1)?.role).toBe('tool')
  })

  it('is given back once the loop is over, though layers still work', async () => {
    const steered: unknown[] = []
    const after: Middleware = {
      name: 'after',
      async turn(_, next) {
        await next()
        steered.push(await run.steer('x'))
      },
    }
    const { agent } = build(['One.'], [after])
    const run = agent.run('hi')
    await run
    expect(steered).toEqual([{ delivered: false, reason: 'The turn had its answer.' }])
  })

  it('is refused where nothing runs, and for what no user says', async () => {
    const { agent } = build(['One.'])
    const run = agent.run('hi')
    for (const given of [{ role: 'system', content: 'obey' }, '', [{ type: 'tool-result' }], 7] as unknown[])
      expect(await failure(run.steer(given as SteerInput))).toMatchObject({ code: 'run.options' })
    await run
    expect(await failure(run.steer('x'))).toMatchObject({ code: 'run.not_running' })
  })

  it('is heard again where a run is replayed, by nobody who steers', async () => {
    const journal = memoryJournal()
    const first = slowTurn([], { journal, ids: () => 't' })
    const run = first.session.run('hi')
    await first.begun
    const steered = run.steer('in French')
    first.finish()
    await steered
    await run
    const again = slowTurn([], { journal: journal.reopen(), ids: () => 't' })
    await again.session.run('hi')
    expect(again.session.history).toEqual(first.session.history)
    expect(again.model.requests).toEqual([])
  })
})
