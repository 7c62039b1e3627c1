import { memoryStore } from '@allium/store'
import { describe, it } from 'vitest'
import type { ManualClock } from '../../src/index.ts'
import { type PassageStoreParts, passageStoreConformance } from '../../src/passages.ts'

function memory({ clock }: { clock: ManualClock }): PassageStoreParts {
  const sessions = memoryStore({ clock })
  return { sessions, passages: sessions.passages }
}

passageStoreConformance({ name: 'memoryStore().passages', makeStore: memory, describe, it })
