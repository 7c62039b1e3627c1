import { describe, expect, it } from 'vitest'
import { manualClock } from '../../testing/src/index.ts'
import { growth } from '../../testing/test/growth.ts'
import { type Model, type ModelChunk, systemClock } from '../src/index.ts'
import { EventQueue } from '../src/stream/event-queue.ts'
import { build, failure, only, read, rest, tool, turn } from './kit.ts'

/** A model that streams these chunks, and says how many were taken. */
function streaming(chunks: readonly ModelChunk[]) {
  const seen = { taken: 0 }
  const model: Model = {
    id: 'streaming',
    async *stream() {
      for (const chunk of chunks) {
        yield chunk
        seen.taken++
      }
      yield { type: 'finish', reason: 'stop', usage: {} }
    },
  }
  return { model, seen }
}

const words = Array.from({ length: 20 }, (_, i) => ({ type: 'text-delta' as const, delta: `${i} ` }))

describe('a reader who comes late', () => {
  /** Events that cannot be merged, all unread, then all read. */
  async function readLate(count: number): Promise<void> {
    const queue = new EventQueue(systemClock, false)
    for (let i = 0; i < count; i++) void queue.push({ type: 'tool-input-delta', callId: `c${i % 2}`, delta: 'x' })
    queue.finish({})
    while ((await queue.next()).done !== true);
  }

  it('takes four times as long for four times as many events', async () => {
    expect(await growth(readLate, 50_000, 200_000, 8)).toBeLessThan(8)
  })

  it('gets the input of a tool call as one piece, and that of two calls apart', async () => {
    const input = (callId: string, delta: string): ModelChunk => ({ type: 'tool-input-delta', callId, delta })
    const chunks = [
      ...['a', 'b'].map((callId) => ({ type: 'tool-input-start', callId, name: 'work' }) as const),
      ...['{"x"', ':', '1'].map((delta) => input('a', delta)),
      ...['{', '}'].map((delta) => input('b', delta)),
      input('a', '}'),
      ...['a', 'b'].map((callId) => ({ type: 'tool-input-end', callId }) as const),
    ]
    const { events } = await turn([{ chunks }, 'done'], [], { tools: [tool('work')] })
    const deltas = only(events, 'tool-input-delta').map(({ callId, delta }) => `${callId} ${delta}`)
    expect(deltas).toEqual(['a {"x":1', 'b {}', 'a }'])
  })
})

describe('a reader who stops', () => {
  const silent = async (readerTimeout?: number | false) => {
    const clock = manualClock()
    const { model, seen } = streaming(words)
    const { agent } = build([], [], { model, clock, ...(readerTimeout !== undefined && { readerTimeout }) })
    const session = agent.session()
    const run = session.run('hi')
    const reader = run[Symbol.asyncIterator]()
    for (let i = 0; i < 3; i++) await reader.next()
    await rest()
    return { clock, seen, run, reader, session, agent }
  }

  it('holds its run for 30 seconds, then the run flows on', async () => {
    const { clock, seen, run } = await silent()
    await clock.advance(29_999)
    expect(seen.taken).toBeLessThan(4)
    await clock.advance(1)
    expect(seen.taken).toBe(20)
    await run.settled()
  })

  it('gets all that was kept when it comes back', async () => {
    const { clock, reader } = await silent()
    await clock.advance(30_000)
    const { shown, events } = await read({ [Symbol.asyncIterator]: () => reader })
    expect(shown).toBe(
      words
        .map(({ delta }) => delta)
        .join('')
        .slice(2),
    )
    expect(only(events, 'text-delta').length).toBeLessThan(4)
  })

  it('holds its run again once it has come back', async () => {
    const clock = manualClock()
    const { model, seen } = streaming([...words, ...words])
    const run = build([], [], { model, clock, readerTimeout: 1000 }).agent.run('hi')
    const queue = run[Symbol.asyncIterator]()
    for (let i = 0; i < 3; i++) await queue.next()
    await clock.advance(999)
    await queue.next()
    await clock.advance(999)
    expect(seen.taken).toBeLessThan(6)
    await run
  })

  it('holds its run for ever where the agent, or the run, says so', async () => {
    const { clock, seen } = await silent(false)
    await clock.advance(1e9)
    expect([seen.taken < 4, clock.pending]).toEqual([true, 0])
  })

  it('holds no run whose reader takes a chunk now and then', async () => {
    const { clock, seen, reader } = await silent(1000)
    for (let i = 0; i < 5; i++) {
      await clock.advance(900)
      await reader.next()
    }
    expect(seen.taken).toBeLessThan(9)
    await clock.advance(1000)
    expect(seen.taken).toBe(20)
  })

  it('leaves no timer behind when its run has ended', async () => {
    const { clock, run, session } = await silent()
    expect(clock.pending).toBe(1)
    session.abort('enough')
    await failure(run)
    expect(clock.pending).toBe(0)
  })

  it('is refused a silence that is no time', async () => {
    expect(() => build(['hi'], [], { readerTimeout: 0 })).toThrow(expect.objectContaining({ code: 'agent.options' }))
    const run = build(['hi']).agent.run('hi', { readerTimeout: Number.NaN })
    expect(await failure(run)).toMatchObject({ code: 'run.options', message: expect.stringContaining('NaN') })
  })
})

describe('two reads at once', () => {
  it('get one event each, in order', async () => {
    const reader = build(['hi']).agent.run('hi')[Symbol.asyncIterator]()
    const events = await Promise.all([reader.next(), reader.next(), reader.next()])
    expect(events.map(({ value }) => value?.type)).toEqual(['turn:start', 'step:start', 'text-delta'])
  })

  it('both end with the run, the first of them with its error', async () => {
    const down = new Error('down')
    const reader = build([down]).agent.run('hi')[Symbol.asyncIterator]()
    for (let i = 0; i < 3; i++) await reader.next()
    const [first, second] = await Promise.allSettled([reader.next(), reader.next()])
    expect([first, second]).toEqual([
      { status: 'rejected', reason: down },
      { status: 'fulfilled', value: { value: undefined, done: true } },
    ])
  })
})
