import type { Middleware } from '@allium/core'
import { describe, expect, it } from 'vitest'
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
})
