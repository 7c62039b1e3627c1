import type { SessionKey } from '@allium/core'
import type { EventLog, LoggedEvent, RunKey, RunSignal } from '@allium/store'
import { check, checkResolves, Nonconformance } from '../check.ts'

/** The test bench of a case. */
export interface EventLogBench {
  log: EventLog
  /** The same events as another process sees them; the log itself if it cannot be opened again. */
  other: EventLog
  /** Retention of a run after its end, in milliseconds. */
  eventRetention: number
  /** Lets time pass. */
  wait(ms: number): Promise<void>
}

/** The cases of one file by name. */
export type EventLogCases = Readonly<Record<string, (bench: EventLogBench) => Promise<void>>>

export const chat: SessionKey = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }
export const run: RunKey = { key: chat, turnId: 'chat:1' }

/**
 * Delays between polls as fractions of a run's retention, 0.8 in total. At first there are none: work outside the event loop, such as
 * encryption, takes many turns of the loop on a busy machine.
 */
const pauses = [...Array<number>(400).fill(0), ...Array<number>(50).fill(0.01), ...Array<number>(20).fill(0.015)]

/** Waits for a promise that must settle before the run expires. */
export async function withinTtl<T>(
  { wait, eventRetention }: EventLogBench,
  promise: Promise<T>,
  claim: string,
): Promise<T> {
  const timedOut = Symbol('nothing yet')
  const coming = checkResolves(promise, claim)
  coming.catch(() => {})
  for (const pause of pauses) {
    const outcome = await Promise.race([coming, wait(eventRetention * pause).then((): typeof timedOut => timedOut)])
    if (outcome !== timedOut) return outcome as T
  }
  throw new Nonconformance(`${claim}, but nothing arrived.`)
}

/** Waits equally long until a condition holds. */
export async function until(
  { wait, eventRetention }: EventLogBench,
  condition: () => boolean | Promise<boolean>,
  claim: string,
): Promise<void> {
  for (const pause of pauses) {
    if (await condition()) return
    await wait(eventRetention * pause)
  }
  check(await condition(), `${claim}, but it did not`)
}

/** A reader of a run. */
export class Reader {
  readonly #bench: EventLogBench
  readonly #events: AsyncIterator<LoggedEvent, undefined>

  constructor(bench: EventLogBench, log: EventLog, { of = run, after = 0, signal }: ReaderOptions = {}) {
    this.#bench = bench
    this.#events = log.read(of, after, signal)[Symbol.asyncIterator]()
  }

  /** Returns the next events; fewer if the run ends. */
  async read(count: number): Promise<LoggedEvent[]> {
    const received: LoggedEvent[] = []
    while (received.length < count) {
      const { done, value } = await withinTtl(
        this.#bench,
        this.#events.next(),
        'A reader gets the next event, or the end',
      )
      if (done === true) return received
      received.push(value)
    }
    return received
  }

  /** Returns all events until the run ends. */
  rest(): Promise<LoggedEvent[]> {
    return this.read(Number.POSITIVE_INFINITY)
  }

  next(): Promise<IteratorResult<LoggedEvent, undefined>> {
    return this.#events.next()
  }

  async cancel(): Promise<void> {
    await this.#events.return?.(undefined)
  }
}
interface ReaderOptions {
  of?: RunKey
  after?: number
  signal?: AbortSignal
}

/** Returns the events that a reader finds in an ended run. */
export async function eventsIn(bench: EventLogBench, log: EventLog, of: RunKey = run, after = 0): Promise<unknown[]> {
  return (await new Reader(bench, log, { of, after }).rest()).map(({ event }) => event)
}

export function steer(id: string, text = `steer ${id}`): RunSignal {
  return { steer: text, id }
}
