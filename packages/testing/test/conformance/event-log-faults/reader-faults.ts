import type { EventLog, LoggedEvent, RunKey } from '@allium/store'
import { type Events, type Fault, forever, mapped } from './fault.ts'

/** Faults with those who read while a run goes on. */
export const readerFaults: readonly Fault[] = [
  ['ends where nothing more is there', readsOnce, 'goes on live with who came early, until the run ends'],
  [
    'gives each event to one reader',
    (log) => {
      let events: Events | undefined
      return { read: (...args) => (events ??= log.read(...args)) }
    },
    'goes on live with who came early, until the run ends',
  ],
  ['waits for its readers', waitsForReaders, 'waits for nobody who reads slowly, and loses no event for them'],
  [
    'ignores that a reader has gone',
    (log) => ({ read: (run, after) => log.read(run, after) }),
    'lets a reader go whose signal aborts, or who leaves, also while they wait',
  ],
  [
    'lets readers go at the next event',
    (log) => ({ read: (...args) => generated(log.read(...args)) }),
    'lets a reader go whose signal aborts, or who leaves, also while they wait',
  ],
  [
    'gives what comes, and not what came',
    (log) => ({
      append: (run, epoch, events, options) => log.append(run, epoch, events, options),
      read: (run, _, signal) => fromNow(log, run, signal),
    }),
    'gives who comes back what came meanwhile, each event once',
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
