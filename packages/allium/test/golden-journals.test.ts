import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { toJson } from '@allium/core'
import { describe, expect, it } from 'vitest'
import { recording, replaying, type Steps, turnOf } from './golden/scene.ts'

const folder = join(import.meta.dirname, 'golden')
const files = readdirSync(folder).filter((name) => name.endsWith('.json'))
const latest = '0.1.json'
const read = (file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as { steps: Steps; result: unknown }

describe('a journal that an earlier release has recorded', () => {
  it.for(files)('%s is replayed to the same end, and nothing is asked again', async (file) => {
    const { steps, result } = read(file)
    const asked = { calls: [] }
    const { events: _, ...replayed } = await turnOf(replaying(steps), asked)
    expect(asked.calls).toEqual([])
    expect(JSON.parse(toJson(replayed))).toEqual(result)
  })

  it('has the steps that this release requests, by the same names', async () => {
    const journal = recording()
    await turnOf(journal, { calls: [] })
    expect(journal.steps.map(([id]) => id).sort()).toEqual(
      read(latest)
        .steps.map(([id]) => id)
        .sort(),
    )
  })
})
