import { memoryStore } from '@allium/store'
import { describe, expect, it } from 'vitest'
import type { ManualClock } from '../../src/index.ts'
import { type RolloutStoreParts, rolloutStoreCases, rolloutStoreConformance } from '../../src/rollouts.ts'
import { expectToFail } from './expect-to-fail.ts'
import { type Broken, rolloutFaults } from './rollout-faults.ts'

function memory({ clock }: { clock: ManualClock }): RolloutStoreParts {
  const sessions = memoryStore({ clock })
  return { sessions, rollouts: sessions.rollouts }
}

rolloutStoreConformance({ name: 'memoryStore().rollouts', makeStore: memory, describe, it })

describe('the suite of rollouts finds a store that', () => {
  const cases = (breaks: (parts: RolloutStoreParts) => Broken) =>
    rolloutStoreCases((given) => {
      const parts = memory(given)
      const { sessions = parts.sessions, ...broken } = breaks(parts)
      return { sessions, rollouts: { ...parts.rollouts, ...broken } }
    })

  it.each(rolloutFaults)('%s', async (_, breaks, found) => {
    await expectToFail(cases(breaks), found)
  })

  it('has no case that no fault fails', () => {
    const found = rolloutFaults.map(([, , name]) => name)
    const all = cases(() => ({})).map(({ name }) => name)
    expect(all.filter((name) => !found.includes(name))).toEqual([])
  })
})
