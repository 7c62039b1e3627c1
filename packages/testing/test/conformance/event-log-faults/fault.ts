import type { EventLog, LoggedEvent } from '@allium/store'
import type { ManualClock } from '../../../src/index.ts'

/** What a log does wrong, in front of one that does right. */
export type Breaks = (log: EventLog, given: { clock: ManualClock; eventRetention: number }) => Partial<EventLog>

/** A fault that an event log may have, and the case that must find it. */
export type Fault = readonly [fault: string, breaks: Breaks, found: string]

export type Events = ReturnType<EventLog['read']>
export const forever = new Promise<never>(() => {})

/** The events of a reader, each as something else. */
export function mapped(events: Events, map: (event: LoggedEvent, index: number) => LoggedEvent): Events {
  let index = 0
  return {
    next: async () => {
      const result = await events.next()
      return result.done === true ? result : { done: false, value: map(result.value, index++) }
    },
    return: async () => (await events.return?.()) ?? { done: true, value: undefined },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
