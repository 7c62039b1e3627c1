import { describe, expect, it } from 'vitest'
import { approvals } from './kinds/approvals.ts'
import { decisions } from './kinds/decisions.ts'
import { models } from './kinds/models.ts'
import { runs } from './kinds/runs.ts'
import { texts } from './kinds/texts.ts'
import { type Kind, recordedKind, replayedKind } from './world.ts'

const groups: Readonly<Record<string, readonly Kind[]>> = { approvals, decisions, models, runs, texts }

describe.each(Object.entries(groups))('a replay of an unchanged agent: %s', (_, kinds) => {
  it.each(kinds)('$title', async (kind) => {
    const { kept, turns } = await recordedKind(kind)
    expect(turns.length).toBeGreaterThan(0)
    for (const mode of ['pinned', 'exact'] as const) {
      const { notReplayable, notes, ...report } = await replayedKind(kept, turns, {
        mode,
        parts: kind.parts?.() ?? {},
      })
      const differing = report.turns.flatMap(({ differences }) => differences)
      const fields = [...new Set(differing.map(({ step, field }) => `${step}: ${field}`))]
      expect(fields, JSON.stringify(differing)).toEqual(kind.except?.fields ?? [])
      expect(notReplayable).toEqual({})
      expect(Object.keys(notes)).toEqual(kind.notes ?? [])
      expect(report.replayed).toBe(turns.length)
    }
  })
})

it('covers at least 74 kinds of turns', () => {
  const kinds = Object.values(groups).flat()
  expect(new Set(kinds.map(({ title }) => title)).size).toBe(kinds.length)
  expect(kinds.length).toBeGreaterThanOrEqual(74)
})
