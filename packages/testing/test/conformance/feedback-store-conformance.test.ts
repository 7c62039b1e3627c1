import { memoryStore } from '@allium/store'
import { describe, it } from 'vitest'
import { type FeedbackStoreParts, feedbackStoreConformance } from '../../src/feedback.ts'
import type { ManualClock } from '../../src/index.ts'

function memory({ clock }: { clock: ManualClock }): FeedbackStoreParts {
  const sessions = memoryStore({ clock })
  return { sessions, feedback: sessions.feedback }
}

feedbackStoreConformance({ name: 'memoryStore().feedback', makeStore: memory, describe, it })
