import { Agent } from '@allium/core'
import { type MemoryJournal, memoryJournal } from '@allium/store/journal'
import { manualClock, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { cache, retry } from '../src/index.ts'

const twice = ['a', 'b'].map((callId) => ({ name: 'look', callId, args: { q: 1 } }))

function process(journal: MemoryJournal, did: string[], fails = 0, clock = manualClock()) {
  const look = {
    name: 'look',
    description: 'Looks',
    jsonSchema: {},
    execute: () => {
      if (did.push('look') <= fails) throw Object.assign(new Error('busy'), { status: 503 })
      return `seen ${did.length}`
    },
  }
  const model = scriptedModel(journal.recorded.length > 0 ? ['Done.'] : [{ toolCalls: twice.slice(fails) }, 'Done.'])
  return new Agent({ model, tools: [look], journal, clock, ids: () => 'x', logger: { warn() {}, error() {} } })
}

describe('a run that is replayed', () => {
  it.each([4, 5])('tools.cache: the tool that ran for two calls runs no more after step %i', async (steps) => {
    const did: string[] = []
    const journal = memoryJournal()
    const dead = journal.killAfter(steps)
    const boot = (journal: MemoryJournal) =>
      process(journal, did)
        .use(cache({ tools: ['look'] }))
        .run('go')
    boot(journal).catch(() => {})
    await dead
    const { toolCalls } = await boot(journal.reopen())
    expect([toolCalls.map(({ result }) => result.content), did.length]).toEqual([['seen 1', 'seen 1'], 1])
  })

  it('tools.retry: waits for what is left of the wait', async () => {
    const did: string[] = []
    const journal = memoryJournal()
    const dead = journal.killAfter(3)
    const layer = () => retry({ tools: ['look'], delay: 1000, random: () => 0 })
    process(journal, did, 1)
      .use(layer())
      .run('go')
      .catch(() => {})
    await dead
    const clock = manualClock()
    clock.advance(5000)
    const { toolCalls } = await process(journal.reopen(), did, 1, clock).use(layer()).run('go')
    expect(toolCalls.map(({ result }) => result.content)).toEqual(['seen 2'])
  })
})
