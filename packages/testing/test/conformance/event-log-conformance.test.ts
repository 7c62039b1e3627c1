import { type EventLog, memoryEventLog } from '@allium/store'
import { describe, expect, it } from 'vitest'
import { eventLogCases, eventLogConformance } from '../../src/index.ts'
import { eventBlobFaults } from './event-log-faults/event-blob-faults.ts'
import { eventFaults } from './event-log-faults/event-faults.ts'
import type { Breaks } from './event-log-faults/fault.ts'
import { readerFaults } from './event-log-faults/reader-faults.ts'
import { signalFaults } from './event-log-faults/signal-faults.ts'
import { expectToFail } from './expect-to-fail.ts'

const faults = [...eventFaults, ...eventBlobFaults, ...readerFaults, ...signalFaults]

eventLogConformance({ name: 'memoryEventLog', makeLog: (given) => memoryEventLog(given), describe, it })

describe('the event log suite finds a log that', () => {
  const cases = (breaks: Breaks) =>
    eventLogCases((given) => {
      const log = memoryEventLog(given)
      return { ...log, ...breaks(log, given) }
    })

  it.each(faults)('%s', async (_, breaks, found) => {
    await expectToFail(cases(breaks), found)
  })

  it('has no case that no fault fails', () => {
    const found = faults.map(([, , name]) => name)
    expect(
      cases(() => ({}))
        .map(({ name }) => name)
        .filter((name) => !found.includes(name)),
    ).toEqual([])
  })
})

it('a case has a log of its own, a second handle on it, and closes both', async () => {
  const closed: EventLog[] = []
  const made: EventLog[] = []
  const [first] = eventLogCases((given) => (made[0] = memoryEventLog(given)), {
    reopen: (log) => (made[1] = { ...log }),
    close: (log) => closed.push(log),
  })
  await first?.run()
  expect(closed).toEqual([made[1], made[0]])
})
