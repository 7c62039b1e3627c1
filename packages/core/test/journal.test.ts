import { describe, expect, it } from 'vitest'
import { recordStepValue, replayStep, type StepValue } from '../../store/src/index.ts'
import type { Journal, Middleware } from '../src/index.ts'
import { build, oneCall, read, tool, turn } from './kit.ts'

interface Entry {
  id: string
  items: unknown[]
  result: unknown
}

/** Records each step; given a recording, it replays it and runs nothing. */
function recording(entries: Entry[] = []): Journal & { entries: Entry[]; ran: string[] } {
  const known = new Map(entries.map((entry) => [entry.id, entry]))
  const journal = {
    entries: [] as Entry[],
    ran: [] as string[],
    async step<T, C>(
      id: string,
      work: (emit: (item: C) => void | PromiseLike<void>) => T | PromiseLike<T>,
      emit: (item: C) => void | PromiseLike<void>,
    ): Promise<T> {
      const old = known.get(id)
      if (old !== undefined) {
        for (const item of old.items) await emit(item as C)
        journal.entries.push(old)
        return old.result as T
      }
      const items: unknown[] = []
      journal.ran.push(id)
      const result = await work((item) => {
        items.push(structuredClone(item))
        return emit(item)
      })
      journal.entries.push({ id, items, result: structuredClone(result) })
      return result
    },
  }
  return journal
}

const ids = () => 'fixed'
const steps = [{ text: 'Looking.', toolCalls: [{ name: 'work', callId: 'c1', args: { n: 1 } }] }, 'Done it.']

describe('the journal', () => {
  it('gets every physical model call with its chunks, and every tool call, behind what each was asked', async () => {
    const journal = recording()
    await turn(steps, [], { journal, tools: [tool('work', ({ n }) => `result ${n}`)] })
    expect(journal.entries.map(({ items, result }) => [items.length, result])).toEqual([
      [6, { type: 'finish', reason: 'tool-calls', usage: { inputTokens: 10, outputTokens: 5 } }],
      [1, expect.objectContaining({ callId: 'c1', content: 'result 1', status: 'ok' })],
      [3, { type: 'finish', reason: 'stop', usage: { inputTokens: 10, outputTokens: 5 } }],
    ])
    expect(new Set(journal.entries.map(({ id }) => id)).size).toBe(3)
  })

  it('stands below all layers: it sees no transform, no skip, no deny', async () => {
    const journal = recording()
    const layers: Middleware[] = [
      {
        name: 'upper',
        model(ctx, next) {
          ctx.onChunk((chunk) => (chunk.type === 'text-delta' ? { ...chunk, delta: 'X' } : undefined))
          return next()
        },
      },
      { name: 'deny', tool: (ctx) => ctx.deny('no') },
    ]
    await turn(steps, layers, { journal, tools: [tool('work')] })
    expect(journal.entries).toHaveLength(2)
    expect(journal.entries[0]?.items[1]).toEqual({ type: 'text-delta', delta: 'Looking.' })
    const skipped = recording()
    await turn([], [{ name: 'cache', model: (ctx) => ctx.skipCall('cached') }], { journal: skipped })
    expect(skipped.entries).toEqual([])
  })

  it('gets a step of its own for each attempt', async () => {
    const journal = recording()
    const retry: Middleware = { name: 'retry', model: (_, next) => next().catch(() => next()) }
    await turn([new Error('down'), 'up'], [retry], { journal })
    expect(new Set(journal.ran).size).toBe(2)
  })

  it('replays a whole turn without running anything: same ids, events, history, usage', async () => {
    const first = recording()
    const before = await turn(steps, [], { journal: first, ids, of: { id: 's' }, tools: [tool('work')] })
    const second = recording(first.entries)
    let ran = 0
    const after = await turn([], [], { journal: second, ids, of: { id: 's' }, tools: [tool('work', () => ran++)] })
    expect([second.ran, ran, after.model.calls]).toEqual([[], 0, 0])
    expect(after.session.history).toEqual(before.session.history)
    expect(after.events).toEqual(before.events)
    expect(after.result).toEqual(before.result)
  })

  it('goes on live where a recording ends', async () => {
    const first = recording()
    await turn(steps, [], { journal: first, ids, tools: [tool('work')] })
    const second = recording(first.entries.slice(0, 2))
    const { result, model } = await turn(['Live.'], [], { journal: second, ids, tools: [tool('work')] })
    expect([result?.text, model.calls, second.ran.length]).toEqual(['Live.', 1, 1])
  })

  it('keeps the ids of parallel tool calls apart from the order in which they end', async () => {
    const calls = ['a', 'b', 'c'].map((callId) => ({ name: 'work', callId }))
    const run = async () => {
      const journal = recording()
      await turn([{ toolCalls: calls }, 'done'], [], { journal, ids, tools: [tool('work')] })
      return journal.ran.slice().sort()
    }
    expect(await run()).toEqual(await run())
  })

  it('may slow the reader down: what it emits is awaited', async () => {
    const { agent } = build(oneCall, [], { journal: recording(), tools: [tool('work')] })
    expect((await read(agent.run('hi'))).shown).toBe('done')
  })
})

describe('a step as a value', () => {
  const recorded = async (result: unknown, items: unknown[] = []) => {
    let record: StepValue | undefined
    const work = async (emit: (item: unknown) => unknown) => {
      for (const item of items) await emit(item)
      return result
    }
    await recordStepValue(
      work,
      () => {},
      (value) => void (record = value),
    )
    return record
  }

  it('is replayed with the bytes that it was recorded with', async () => {
    const data = new Uint8Array(10_000_000)
    const record = await recorded({ callId: 'c1', content: [{ type: 'file', data }], value: data }, [
      { type: 'file', data },
    ])
    const emitted: unknown[] = []
    const result = await replayStep<{ value: unknown }, unknown>(record, (item) => void emitted.push(item))
    expect([(emitted[0] as { data: unknown }).data, result.value].every((bytes) => bytes === data)).toBe(true)
  })

  it('has at most 8 MiB of text beside bytes and base64', async () => {
    expect(await recorded(`data:image/png;base64,${'AAAA'.repeat(3_000_000)}`)).toBeDefined()
    await expect(recorded('a b '.repeat(3_000_000))).rejects.toMatchObject({ code: 'journal.too_large' })
  })

  it.each([[undefined], [[[]]], [[[], 'no outcome']], [{ items: [] }]])(
    'that is damaged is journal.corrupt: %j',
    async (record) => {
      await expect(replayStep(record, () => {})).rejects.toMatchObject({ code: 'journal.corrupt' })
    },
  )
})
