import { memoryStore } from '@allium/store'
import { describe, expect, it } from 'vitest'
import { type FeedbackStoreParts, feedbackStoreCases, feedbackStoreConformance } from '../../src/feedback.ts'
import type { ManualClock } from '../../src/index.ts'
import { expectToFail } from './expect-to-fail.ts'
import { type Broken, feedbackFaults } from './feedback-faults.ts'

function memory({ clock }: { clock: ManualClock }): FeedbackStoreParts {
  const sessions = memoryStore({ clock })
  return { sessions, feedback: sessions.feedback }
}

feedbackStoreConformance({ name: 'memoryStore().feedback', makeStore: memory, describe, it })

describe('the suite of feedback finds a store that', () => {
  const cases = (breaks: (parts: FeedbackStoreParts) => Broken) =>
    feedbackStoreCases((given) => {
      const parts = memory(given)
      const { sessions = parts.sessions, ...broken } = breaks(parts)
      return { sessions, feedback: { ...parts.feedback, ...broken } }
    })

  it.each(feedbackFaults)('%s', async (_, breaks, found) => {
    await expectToFail(cases(breaks), found)
  })

  it('has no case that no fault fails', () => {
    const found = feedbackFaults.map(([, , name]) => name)
    const all = cases(() => ({})).map(({ name }) => name)
    expect(all.filter((name) => !found.includes(name))).toEqual([])
  })
})
