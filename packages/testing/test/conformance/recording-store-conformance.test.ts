import { memoryStore } from '@allium/store'
import { describe, expect, it } from 'vitest'
import type { ManualClock } from '../../src/index.ts'
import { type RecordingStoreParts, recordingStoreCases, recordingStoreConformance } from '../../src/recordings.ts'
import { expectToFail } from './expect-to-fail.ts'
import { type Broken, recordingFaults } from './recording-faults.ts'

function memory({ clock }: { clock: ManualClock }): RecordingStoreParts {
  const sessions = memoryStore({ clock })
  return { sessions, recordings: sessions.recordings }
}

recordingStoreConformance({ name: 'memoryStore().recordings', makeStore: memory, describe, it })

describe('the suite of recordings finds a store that', () => {
  const cases = (breaks: (parts: RecordingStoreParts) => Broken) =>
    recordingStoreCases((given) => {
      const parts = memory(given)
      const { sessions = parts.sessions, ...broken } = breaks(parts)
      return { sessions, recordings: { ...parts.recordings, ...broken } }
    })

  it.each(recordingFaults)('%s', async (_, breaks, found) => {
    await expectToFail(cases(breaks), found)
  })

  it('has no case that no fault fails', () => {
    const found = recordingFaults.map(([, , name]) => name)
    const all = cases(() => ({})).map(({ name }) => name)
    expect(all.filter((name) => !found.includes(name))).toEqual([])
  })
})
