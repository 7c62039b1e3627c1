import { Agent, defineMiddleware } from '@allium/core'
import { type MemoryJournal, memoryJournal } from '@allium/store/journal'
import { scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { canary, when } from '../src/index.ts'

/** Runs an agent around a layer that a flag chooses, and tells whether it took part. */
async function takesPart(name: string, flag: string, journal?: MemoryJournal): Promise<boolean> {
  let seen = false
  const marks = defineMiddleware({
    name: 'marks',
    model(_, next) {
      seen = true
      return next()
    },
  })
  const layer =
    name === 'when' ? when(async () => flag === 'a', marks) : canary(marks, { percent: 50, per: async () => flag })
  const agent = new Agent({ model: scriptedModel(['Hi.']), ids: () => 'x', ...(journal && { journal }) }).use(layer)
  await agent.run('go')
  return seen
}

describe('a run that is replayed', () => {
  it.each(['when', 'canary'])('%s(): a choice that had to be waited for is the same again', async (name) => {
    const first = await takesPart(name, 'a')
    let other = 'b'
    while ((await takesPart(name, other)) === first) other += 'b'
    const journal = memoryJournal()
    await takesPart(name, 'a', journal)
    expect(await takesPart(name, other, journal.reopen())).toBe(first)
  })

  it('canary(): another percentage changes nothing in a run that has begun', async () => {
    const seen: number[] = []
    const runWith = (percent: number, journal: MemoryJournal) => {
      const marks = defineMiddleware({
        name: 'marks',
        model: (_, next) => {
          seen.push(percent)
          return next()
        },
      })
      const agent = new Agent({ model: scriptedModel(['Hi.']), ids: () => 'x', journal }).use(
        canary(marks, { percent }),
      )
      return agent.run('go')
    }
    const journal = memoryJournal()
    await runWith(0, journal)
    await runWith(100, journal.reopen())
    await runWith(100, memoryJournal())
    expect(seen).toEqual([100])
  })
})
