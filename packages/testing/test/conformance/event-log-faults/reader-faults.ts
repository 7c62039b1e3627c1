import type { EventLog, LoggedEvent, RunKey } from '@allium/store'
import { type Events, type Fault, forever, mapped } from './fault.ts'

/** Faults with those who read while a run goes on. */
export const readerFaults: readonly Fault[] = [
  ['ends where nothing more is there', readsOnce, 'continues live for early readers, until the run ends'],
  [
    'gives each event to one reader',
    (log) => {
      let events: Events | undefined
      return { read: (...args) => (events ??= log.read(...args)) }
    },
    'continues live for early readers, until the run ends',
  ],
  ['waits for its readers', waitsForReaders, 'does not wait for slow readers, and loses none of their events'],
  [
    'ignores that a reader has gone',
    (log) => ({ read: (run, after) => log.read(run, after) }),
    'releases a reader whose signal aborts, or who cancels, even while it waits',
  ],
  [
    'lets readers go at the next event',
    (log) => ({ read: (...args) => generated(log.read(...args)) }),
    'releases a reader whose signal aborts, or who cancels, even while it waits',
  ],
  [
    'gives what comes, and not what came',
    (log) => ({
      append: (run, epoch, events, options) => log.append(run, epoch, events, options),
      read: (run, _, signal) => fromNow(log, run, signal),
    }),
    'gives a reconnecting reader the missed events, each once',
  ],
]

async function* generated(events: Events): AsyncGenerator<LoggedEvent, undefined> {
  for await (const event of events) yield event
  return undefined
}

async function* fromNow(log: EventLog, run: RunKey, signal?: AbortSignal): AsyncGenerator<LoggedEvent, undefined> {
  const { seq = 0 } = (await log.latest(run.key)) ?? {}
  return yield* log.read(run, seq, signal)
}

function readsOnce(log: EventLog): Partial<EventLog> {
  return {
    async *read(run, after, signal) {
      const { seq = 0, ended = true } = (await log.latest(run.key)) ?? {}
      if (!ended && seq <= after) return undefined
      for await (const event of log.read(run, after, signal)) {
        yield event
        if (!ended && event.seq >= seq) return undefined
      }
      return undefined
    },
  }
}

function waitsForReaders(log: EventLog): Partial<EventLog> {
  let unread = 0
  return {
    append: async (run, epoch, events, options) => {
      unread += events.length
      return unread > 100 ? forever : log.append(run, epoch, events, options)
    },
    read: (...args) =>
      mapped(log.read(...args), (event) => {
        unread--
        return event
      }),
  }
}
