import { memoryJournal } from '@allium/store/journal'
import type { AnyMiddleware } from 'allium'
import * as guard from 'allium/guard'
import * as model from 'allium/model'
import { scriptedModel } from 'allium/testing'
import * as tools from 'allium/tools'
import { describe, expect, it } from 'vitest'
import { Agent } from '../src/index.ts'

const work = { name: 'work', description: 'Works', jsonSchema: { type: 'object' }, execute: () => 'worked' }

/** How often a side model is asked by a run, and by its replay in another process. */
async function asked(reply: string, layer: (side: ReturnType<typeof scriptedModel>) => AnyMiddleware) {
  const counts: number[] = []
  const side = scriptedModel(Array.from({ length: 9 }, () => reply))
  for (let journal = memoryJournal(), life = 0; life < 2; journal = journal.reopen(), life++) {
    const main = scriptedModel([{ toolCalls: [{ name: 'work', callId: 'c1' }] }, 'done'])
    const agent = new Agent({ model: main, tools: [work], journal, ids: () => 'fixed' }).use(layer(side) as never)
    expect((await agent.session({ id: 's' }).run('go')).text).toBe('done')
    counts.push(side.calls)
  }
  return counts
}

describe('a model beside the main one is not paid again on replay', () => {
  it.each([
    ['guard.judge', '{"score": 1, "why": "Fine."}', (side) => guard.judge({ model: side, rubric: 'Be kind.' }), 2],
    ['model.selectTools', '{"tools": ["work"]}', (side) => model.selectTools({ model: side }), 1],
    ['tools.emulate', 'played', (side) => tools.emulate({ model: side }), 1],
  ] as [string, string, (side: ReturnType<typeof scriptedModel>) => AnyMiddleware, number][])(
    '%s',
    async (_, reply, layer, times) => {
      const [first, both] = await asked(reply, layer)
      expect([first, both]).toEqual([expect.any(Number), first])
      expect(first).toBeGreaterThanOrEqual(times)
    },
  )
})
