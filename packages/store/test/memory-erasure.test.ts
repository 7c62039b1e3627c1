import { describe, it } from 'vitest'
import { erasureConformance } from '../../testing/src/index.ts'
import { memoryEventLog, memoryStore } from '../src/index.ts'

erasureConformance({
  name: 'the memory stores',
  makeStore({ clock }) {
    const sessions = memoryStore({ clock })
    const events = memoryEventLog({ clock })
    const erase = async (of: { tenant: string; owner?: string | undefined }) => {
      await events.delete(of.owner === undefined ? { tenant: of.tenant } : { tenant: of.tenant, owner: of.owner })
      await sessions.erase({ tenant: of.tenant, ...(of.owner !== undefined && { owner: of.owner }) })
    }
    return { sessions, events, recordings: sessions.recordings, feedback: sessions.feedback, erase }
  },
  describe,
  it,
})
