import { describe, expect, it } from 'vitest'
import type { Model } from '../src/index.ts'
import { build, failure, gate, read, rest, tool, turn, types } from './kit.ts'

/** A model that counts what it was asked for: chunk 0, 1, 2 … and then its finish. */
function counting(count: number) {
  const seen = { produced: 0, closed: false }
  const model: Model = {
    id: 'counting',
    async *stream() {
      try {
        for (; seen.produced < count; ) yield { type: 'text-delta', delta: `${seen.produced++} ` }
        yield { type: 'finish', reason: 'stop', usage: {} }
      } finally {
        seen.closed = true
      }
    },
  }
  return { model, seen }
}

describe('a run', () => {
  it('starts at once and flows where nobody reads or awaits it', async () => {
    const { model, seen } = counting(100)
    const { agent } = build([], [], { model })
    agent.run('hi')
    await rest()
    expect(seen).toEqual({ produced: 100, closed: true })
  })

  it('loses nothing for a late reader, and merges adjacent text', async () => {
    const { agent } = build(
      [{ reasoning: 'hm hm', chunks: ['a', 'b', 'c'], toolCalls: [{ name: 'work' }] }, { chunks: ['d', 'e'] }],
      [],
      { tools: [tool('work')] },
    )
    const run = agent.run('hi')
    await run
    const { events } = await read(run)
    expect(events.flatMap((event) => (event.type === 'text-delta' ? [event.delta] : []))).toEqual(['abc', 'de'])
    expect(types(events)).toContain('tool:end')
    expect(types(events).at(-1)).toBe('turn:end')
  })

  it('does not merge texts of different blocks, or with provider metadata', async () => {
    const chunks = [
      { type: 'text-delta' as const, delta: 'a', id: '1' },
      { type: 'text-delta' as const, delta: 'b', id: '2' },
      { type: 'text-delta' as const, delta: 'c', id: '2', providerMetadata: { p: {} } },
    ]
    const { events } = await turn([{ chunks }])
    expect(events.filter(({ type }) => type === 'text-delta')).toEqual(chunks)
  })

  it('is bounded in memory where nobody reads: many chunks become few events', async () => {
    const { model } = counting(50_000)
    const { agent } = build([], [], { model })
    const run = agent.run('hi')
    await run
    expect((await read(run)).events.length).toBeLessThan(10)
  })

  it('lets the model go one chunk ahead of a reader, and no further', async () => {
    const { model, seen } = counting(100)
    const reader = build([], [], { model }).agent.run('hi')[Symbol.asyncIterator]()
    let read = 0
    for (; read < 10; ) if ((await reader.next()).value?.type === 'text-delta') read++
    await rest()
    expect(seen.produced).toBeLessThanOrEqual(read + 2)
    await reader.return?.()
  })

  it('lifts the waiting where the reader awaits it inside its loop', async () => {
    const { model } = counting(100)
    const run = build([], [], { model }).agent.run('hi')
    let text = ''
    for await (const event of run) if (event.type === 'text-delta') text ||= (await run).text
    expect(text.split(' ')).toHaveLength(101)
  })

  it('refuses a second iterator', async () => {
    const run = build(['ok']).agent.run('hi')
    run[Symbol.asyncIterator]()
    expect(() => run[Symbol.asyncIterator]()).toThrow(expect.objectContaining({ code: 'stream.second_reader' }))
    await run
  })

  it('is aborted by a reader that leaves: the provider is closed, awaiting rejects, the partial answer stays', async () => {
    const { model, seen } = counting(100)
    const { agent } = build([], [], { model })
    const session = agent.session()
    const run = session.run('hi')
    for await (const event of run) if (event.type === 'text-delta') break
    const error = await failure(run)
    expect([error.name, seen.closed, seen.produced < 5]).toEqual(['AbortError', true, true])
    expect(session.history.at(-1)).toMatchObject({ role: 'assistant', interrupted: true })
  })

  it('gives its reader the error after the last event', async () => {
    const down = new Error('down')
    const run = build([{ chunks: ['a'], error: down }]).agent.run('hi')
    const seen: string[] = []
    const reading = (async () => {
      for await (const event of run) seen.push(event.type)
    })()
    expect(await failure(reading)).toBe(down)
    expect(seen).toEqual(['turn:start', 'step:start', 'text-delta', 'turn:end'])
  })

  it('never ends the process where it fails and nobody awaits it', async () => {
    const unhandled: unknown[] = []
    const note = (error: unknown) => unhandled.push(error)
    process.on('unhandledRejection', note)
    const { agent } = build([new Error('down'), { chunks: ['a'], error: new Error('mid') }])
    agent.run('1')
    const reader = agent.run('2')[Symbol.asyncIterator]()
    await reader.next()
    await rest()
    await rest()
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
  })

  it('shows what there is so far as partial', async () => {
    const more = gate()
    const { agent } = build([() => more.promise.then(() => ({ chunks: ['Half'], stall: true }))])
    const run = agent.run('hi')
    expect(run.partial).toMatchObject({ text: '' })
    more.open()
    await rest()
    expect(run.partial).toMatchObject({ text: 'Half', usage: { calls: 1 }, messages: [{ role: 'user' }] })
    run.abort()
    await failure(run)
  })

  it('streams its text alone as textStream', async () => {
    const run = build([{ reasoning: 'hm', chunks: ['a'], toolCalls: [{ name: 'work' }] }, { chunks: ['b', 'c'] }], [], {
      tools: [tool('work')],
    }).agent.run('hi')
    const texts: string[] = []
    for await (const text of run.textStream) texts.push(text)
    expect(texts.join('')).toBe('abc')
  })

  it('ends textStream with stream.reset where text is taken back', async () => {
    const retry = { name: 'retry', model: (_: unknown, next: () => Promise<never>) => next().catch(() => next()) }
    const run = build([{ chunks: ['Hel'], error: new Error('cut') }, 'Hello'], [retry]).agent.run('hi')
    const reading = (async () => {
      for await (const _ of run.textStream) {
        // the first word comes before the reset
      }
    })()
    expect(await failure(reading)).toMatchObject({ code: 'stream.reset' })
  })

  it('has catch and finally like a promise', async () => {
    const log: string[] = []
    await build(['ok'])
      .agent.run('hi')
      .finally(() => log.push('finally'))
    const instead = await build([new Error('down')])
      .agent.run('hi')
      .catch(() => 'instead')
    expect([log, instead]).toEqual([['finally'], 'instead'])
  })

  it('passes tool events on while a reader is slow', async () => {
    const done = gate()
    const { agent } = build([{ toolCalls: [{ name: 'work' }, { name: 'work' }] }, 'ok'], [], {
      tools: [tool('work', () => 'ok')],
    })
    agent.on('tool:end', () => done.open())
    const reader = agent.run('hi')[Symbol.asyncIterator]()
    for (let seen = ''; seen !== 'finish'; ) seen = (await reader.next()).value!.type
    await done.promise
    await reader.return?.()
  })
})
