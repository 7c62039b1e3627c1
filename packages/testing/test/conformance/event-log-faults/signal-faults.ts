import type { EventLog, RunSignal } from '@allium/store'
import type { Breaks, Fault } from './fault.ts'

type Listener = Parameters<EventLog['onSignal']>[1]

/** Faults with what is asked of a run. */
export const signalFaults: readonly Fault[] = [
  [
    'forgets what nobody hears',
    hearsOnly,
    'delivers signals to a listener in order, including those sent before it started',
  ],
  [
    'tells one after the other',
    (log) => ({
      onSignal: (run, fn) => {
        let last: Promise<void> = Promise.resolve()
        return log.onSignal(run, (signal) => (last = last.then(() => fn(signal))))
      },
    }),
    'makes no signal wait for one that is not dealt with yet',
  ],
  [
    'takes what was told for dealt with',
    listeners((fn) => (signal) => {
      ;(async () => fn(signal))().catch(() => {})
    }),
    'keeps unhandled signals for the next listener, and no others',
  ],
  ['tells all listeners', tellsAll, 'keeps unhandled signals for the next listener, and no others'],
  [
    'takes each steer for a new one',
    (log) => {
      let count = 0
      return {
        signal: (run, signal) =>
          log.signal(run, signal.id === undefined ? signal : { ...signal, id: `${signal.id} ${count++}` }),
      }
    },
    'tells a steer once, however often it is sent, and a stop again once one is dealt with',
  ],
  [
    'takes one stop',
    (log) => {
      let stopped = false
      return {
        signal: async (run, signal) => {
          const again = stopped && signal.stop === true
          stopped ||= signal.stop === true
          return again || log.signal(run, signal)
        },
      }
    },
    'tells a steer once, however often it is sent, and a stop again once one is dealt with',
  ],
  [
    'tells who has stopped listening',
    (log) => ({ onSignal: async (...args) => log.onSignal(...args).then(() => () => {}) }),
    'delivers nothing to a closed listener, and keeps the signals',
  ],
  [
    'takes signals for any run',
    (log) => ({ signal: async (run, signal) => (await log.signal(run, signal)) || true }),
    'accepts no signal for a run that has ended or was never opened',
  ],
  [
    'listens to runs that nobody has opened',
    (log) => ({ onSignal: (...args) => log.onSignal(...args).catch(() => () => {}) }),
    'accepts no signal for a run that has ended or was never opened',
  ],
  [
    'ends a run over its steers',
    (log) => ({
      append: async (...args) => {
        const logged = await log.append(...args)
        return logged.undelivered === undefined ? logged : log.append(...args)
      },
    }),
    'returns undelivered steers to the process that ends the run, and does not end it yet',
  ],
]

function hearsOnly(log: EventLog): Partial<EventLog> {
  let heard = false
  return {
    signal: async (run, signal) => !heard || log.signal(run, signal),
    onSignal: (...args) => {
      heard = true
      return log.onSignal(...args)
    },
  }
}

function listeners(around: (fn: Listener) => Listener): Breaks {
  return (log) => ({ onSignal: (run, fn) => log.onSignal(run, around(fn)) })
}

function tellsAll(log: EventLog): Partial<EventLog> {
  const all: Listener[] = []
  return {
    onSignal: (run, fn) => {
      all.push(fn)
      return log.onSignal(run, async (signal: RunSignal) => {
        await Promise.all(all.map(async (one) => one(signal)))
      })
    },
  }
}
