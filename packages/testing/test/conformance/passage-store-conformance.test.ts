import { memoryStore } from '@allium/store'
import { describe, expect, it } from 'vitest'
import type { ManualClock } from '../../src/index.ts'
import { type PassageStoreParts, passageStoreCases, passageStoreConformance } from '../../src/passages.ts'
import { expectToFail } from './expect-to-fail.ts'
import { type Broken, passageFaults } from './passage-faults.ts'

function memory({ clock }: { clock: ManualClock }): PassageStoreParts {
  const sessions = memoryStore({ clock })
  return { sessions, passages: sessions.passages }
}

passageStoreConformance({ name: 'memoryStore().passages', makeStore: memory, describe, it })

describe('the suite of passages finds a store that', () => {
  const cases = (breaks: (parts: PassageStoreParts) => Broken) =>
    passageStoreCases((given) => {
      const parts = memory(given)
      const { sessions, ...broken } = breaks(parts)
      return { sessions: { ...parts.sessions, ...sessions }, passages: { ...parts.passages, ...broken } }
    })

  it.each(passageFaults)('%s', async (_, breaks, found) => {
    await expectToFail(cases(breaks), found)
  })

  it('has no case that no fault fails', () => {
    const found = passageFaults.map(([, , name]) => name)
    const all = cases(() => ({})).map(({ name }) => name)
    expect(all.filter((name) => !found.includes(name))).toEqual([])
  })
})
