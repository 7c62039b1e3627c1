import { type EventLog, type LatestRun, type LoggedEvent, memoryEventLog, type RunKey } from '@allium/store'
import { type Breaks, type Fault, forever, mapped } from './fault.ts'

const reads = (map: (event: LoggedEvent, index: number) => LoggedEvent): Breaks => {
  return (log) => ({ read: (...args) => mapped(log.read(...args), map) })
}

/** Faults with what is kept, and for how long. */
export const eventFaults: readonly Fault[] = [
  [
    'gives texts',
    reads(({ seq, event }) => ({ seq, event: String(event) })),
    'returns the appended events in order, and ends with the run',
  ],
  [
    'does not tell where it stands',
    (log) => ({ append: async (...args) => ({ ...(await log.append(...args)), seq: 0 }) }) as Partial<EventLog>,
    'returns the appended events in order, and ends with the run',
  ],
  [
    'gives the last event again',
    (log) => ({ read: (run, after, signal) => log.read(run, after - 1, signal) }),
    'returns the events after a position, the same ones each time and to each reader',
  ],
  [
    'counts anew for each reader',
    reads(({ event }, i) => ({ seq: i + 1, event })),
    'returns the events after a position, the same ones each time and to each reader',
  ],
  [
    'appends one by one',
    (log) => ({
      append: async (run, epoch, events, options) => {
        for (const event of events) await log.append(run, epoch, [event])
        return log.append(run, epoch, [], options)
      },
    }),
    'keeps the events of an append together, each with its own seq, with many concurrent appends',
  ],
  [
    'copies late',
    (log) => ({
      append: async (...args) => {
        await undefined
        return log.append(...args)
      },
    }),
    'keeps copies, and gives copies',
  ],
  [
    'gives all readers the same event',
    (log) => {
      const known = new Map<number, LoggedEvent>()
      const first = (event: LoggedEvent) => known.get(event.seq) ?? event
      return {
        read: (...args) =>
          mapped(log.read(...args), (event) => {
            known.set(event.seq, first(event))
            return first(event)
          }),
      }
    },
    'keeps copies, and gives copies',
  ],
  [
    'drops what it cannot keep',
    (log) => ({ append: (...args) => log.append(...args).catch(() => ({ seq: 0 })) }),
    'rejects events that it could not return, and stores none of them',
  ],
  [
    'ignores epochs',
    (log) => {
      let epochs = 0
      return { append: (run, _, events, options) => log.append(run, ++epochs, events, options) }
    },
    'rejects events from a process that lost the run, and events of an ended run',
  ],
  [
    'knows runs by their ids',
    (log) => {
      const named = ({ turnId }: RunKey) => ({ key: { tenant: '', owner: '', agent: 'agent', sessionId: '' }, turnId })
      return {
        append: (run, ...rest) => log.append(named(run), ...rest),
        read: (run, ...rest) => log.read(named(run), ...rest),
        signal: (run, signal) => log.signal(named(run), signal),
      }
    },
    'has nothing of a run for who names it in another session',
  ],
  ['waits for runs that nobody has opened', waitsForAny, 'has nothing of a run for who names it in another session'],
  ['tells the first run of a session', tellsFirst, 'tells the run of a session that was opened last'],
  [
    'forgets nothing',
    (_, { clock }) => memoryEventLog({ clock, eventRetention: Number.POSITIVE_INFINITY }),
    'keeps a run for a while after its end, and forgets it then',
  ],
  [
    'forgets a run at its end',
    (_, { clock }) => memoryEventLog({ clock, eventRetention: 0 }),
    'keeps a run for a while after its end, and forgets it then',
  ],
  [
    'deletes nothing',
    () => ({ delete: async () => {} }),
    'deletes the runs of a session, and rejects later appends to them',
  ],
  [
    'opens a run that must exist',
    (log) => ({ append: (run, epoch, events, { end = false } = {}) => log.append(run, epoch, events, { end }) }),
    'deletes the runs of a session, and rejects later appends to them',
  ],
  [
    'deletes all runs of a tenant with those of an owner',
    (log) => ({ delete: ({ tenant }) => log.delete({ tenant }) }),
    'deletes the runs of an owner or a tenant, and no others',
  ],
]

function waitsForAny(log: EventLog): Partial<EventLog> {
  const opened = new Set<string>()
  return {
    append: (run, ...rest) => {
      opened.add(JSON.stringify(run))
      return log.append(run, ...rest)
    },
    read: (run, ...rest) => {
      const events = log.read(run, ...rest)
      return opened.has(JSON.stringify(run)) ? events : mapped({ ...events, next: () => forever }, (event) => event)
    },
  }
}

function tellsFirst(log: EventLog): Partial<EventLog> {
  let first: LatestRun | undefined
  return {
    latest: async (key) => {
      const found = await log.latest(key)
      first ??= found
      return first?.turnId === found?.turnId ? found : first
    },
  }
}
