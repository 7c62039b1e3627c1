import type { ShownRun } from '@allium/durable/operations'
import { expect, it } from 'vitest'
import { showTables } from '../src/runs/run-tables.ts'

const key = { tenant: 'acme', owner: 'ann', agent: 'support', sessionId: 'chat' }
const run = { run: 'r1', key, agent: 'support', version: '1', status: 'completed', queue: 'default', attempts: 1 }
const step = { type: 'step', at: 0, kind: 'model', claim: 1 } as const
const spent = { inputTokens: 900, outputTokens: 80 }

function shownWith(more: Partial<ShownRun>): ShownRun {
  return {
    run: { ...run, runAt: 0, updatedAt: 0, addedAt: 0 } as ShownRun['run'],
    hasEarlier: false,
    pending: [],
    timeline: [],
    ...more,
  }
}

it('shows what a model call has cost, and only its tokens if its price is unknown', () => {
  const timeline = [
    { ...step, step: 'r1:model:0:1', spent: { ...spent, cost: 0.000_41 } },
    { ...step, step: 'r1:model:1:1', spent },
  ]
  const [facts, [, ...rows] = []] = showTables(shownWith({ timeline, cost: 1.5 }))
  expect(facts).toContainEqual(['cost', '$1.50'])
  expect(rows.map((row) => row.slice(2))).toEqual([
    ['step model:0:1', '1', '900 in, 80 out', '$0.00041'],
    ['step model:1:1', '1', '900 in, 80 out', ''],
  ])
})
