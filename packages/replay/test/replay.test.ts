import { Agent, type Middleware } from '@allium/core'
import * as memory from '@allium/memory'
import { scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import type { ReadRecordings } from '../src/recorded/index.ts'
import { replay } from '../src/replay/index.ts'
import { oneCall, work } from './kit.ts'
import { recordedTurns, replayed } from './replay-kit.ts'

const denies: Middleware = { name: 'denies', tool: (ctx) => ctx.deny('not today') }

describe('replay()', () => {
  it('answers models and tools from the recording, and finds no difference in an unchanged agent', async () => {
    const turns = await recordedTurns(oneCall)
    const tools = [{ ...work, execute: () => expect.unreachable('the tool ran') }]
    for (const mode of ['pinned', 'exact'] as const) {
      const report = await replayed(turns, () => [], { mode, agent: { tools } })
      expect(report).toMatchObject({ replayed: 1, same: 1, different: 0, turns: [] })
    }
  })

  it('counts the recordings that could not be read with the turns that cannot be replayed', async () => {
    const turns = await recordedTurns(oneCall)
    const read = {
      unread: { 'history gone': 2 },
      [Symbol.asyncIterator]: async function* () {
        yield* turns
      },
    }
    const agent = new Agent({ model: scriptedModel([]), tools: [work] })
    const { replayed: count, notReplayable } = await replay({ agent, recordings: read as ReadRecordings })
    expect([count, notReplayable]).toEqual([1, { 'history gone': 2 }])
  })

  it('names the layer that now denies a call, and the step where the lanes part', async () => {
    const turns = await recordedTurns(oneCall)
    const { turns: different, byLayer } = await replayed(turns, () => [denies])
    expect(byLayer).toMatchObject({ denies: 1 })
    expect(different[0]?.differences.map(({ kind, step, field }) => [kind, step, field])).toEqual([
      ['decision', 'tool c1', 'denied'],
      ['outcome', 'tool c1', 'status'],
      ['outcome', 'tool c1', 'content'],
    ])
    const { lanes = [], divergedAt = -1 } = different[0] ?? {}
    expect(lanes[divergedAt]).toMatchObject({ step: 'tool c1', replayed: 'denies denied: not today' })
  })

  it('runs the once() of a changed layer again, and diverges if that needs a live answer', async () => {
    const judge = (options: Record<string, unknown>): Middleware => ({
      name: 'judges',
      options,
      async turn(ctx, next) {
        const judged = new Agent({ model: scriptedModel(['fine']) })
        await ctx.once('verdict', async (inner) => (await judged.run('good?', inner)).text)
        await next()
      },
    })
    const turns = await recordedTurns(['ok'], () => [judge({ strict: false })])
    expect((await replayed(turns, () => [judge({ strict: false })])).same).toBe(1)
    const { turns: different } = await replayed(turns, () => [judge({ strict: true })])
    expect(different[0]?.differences[0]).toMatchObject({
      kind: 'diverged',
      replayed: expect.stringContaining('needs a live answer'),
    })
  })

  it('counts turns that cannot be replayed with their reason, and never guesses', async () => {
    const turns = await recordedTurns(['ok'])
    const broken = turns.map((turn) => ({ ...turn, recorded: { ...turn.recorded, notReplayable: ['too large'] } }))
    const unfit = turns.map((turn) => ({ ...turn, recorded: { ...turn.recorded, task: { input: 5, options: {} } } }))
    const report = await replayed([...broken, ...unfit])
    expect(report).toMatchObject({ replayed: 0, same: 0 })
    expect(Object.values(report.notReplayable)).toEqual([1, 1])
  })

  it.each([
    [{ mode: 'loose' }, "The option mode takes 'pinned' or 'exact', not \"loose\""],
    [{ without: ['nope'] }, 'names the layer "nope"'],
    [{ turn: [] }, 'does not know the option turn'],
  ])('refuses the options %j', async (options, told) => {
    await expect(replayed([], () => [], options as never)).rejects.toThrow(told)
  })

  it('refuses an agent that stores sessions without an id, because it would write', async () => {
    const turns = await recordedTurns(['ok'])
    const layers = () => [memory.persist({ anonymous: true })]
    await expect(replayed(turns, layers)).rejects.toThrow('would write to its store')
  })

  it('never hangs: a layer that waits for something that does not come has diverged', async () => {
    const turns = await recordedTurns(['ok'])
    const waits: Middleware = { name: 'waits', model: () => new Promise(() => {}) }
    const { turns: different } = await replayed(turns, () => [waits])
    expect(different[0]?.differences[0]).toMatchObject({ kind: 'diverged', replayed: 'nothing happens any more' })
  }, 30_000)
})
