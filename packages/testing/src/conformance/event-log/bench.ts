import type { EventLog, LoggedEvent, RunKey, RunSignal, SessionKey } from '@allium/core'
import { check, checkResolves, Nonconformance } from '../check.ts'

/** What a case works with. */
export interface EventLogBench {
  log: EventLog
  /** The same events as another process has them; the log itself where there is no way to open them again. */
  other: EventLog
  /** Milliseconds that a run is kept after its end. */
  eventTtl: number
  /** Lets time pass. */
  wait(ms: number): Promise<void>
}

/** The cases of one file by their names. */
export type EventLogCases = Readonly<Record<string, (bench: EventLogBench) => Promise<void>>>

export const chat: SessionKey = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }
export const run: RunKey = { key: chat, turnId: 'chat:1' }

/** Time that passes while somebody waits: none at first, then at most half of what a run is kept. */
const pauses = [...Array<number>(20).fill(0), ...Array<number>(50).fill(0.01), ...Array<number>(20).fill(0.02)]

/** What comes without much ado. */
export async function soon<T>({ wait, eventTtl }: EventLogBench, promise: Promise<T>, what: string): Promise<T> {
  const nothing = Symbol('nothing yet')
  const coming = checkResolves(promise, what)
  coming.catch(() => {})
  for (const pause of pauses) {
    const come = await Promise.race([coming, wait(eventTtl * pause).then((): typeof nothing => nothing)])
    if (come !== nothing) return come as T
  }
  throw new Nonconformance(`${what}, but nothing came.`)
}

/** Waits as long until it holds. */
export async function until(
  { wait, eventTtl }: EventLogBench,
  holds: () => boolean | Promise<boolean>,
  what: string,
): Promise<void> {
  for (const pause of pauses) {
    if (await holds()) return
    await wait(eventTtl * pause)
  }
  check(await holds(), `${what}, but it did not`)
}

/** Somebody who reads a run. */
export class Reader {
  readonly #bench: EventLogBench
  readonly #events: AsyncIterator<LoggedEvent, undefined>

  constructor(bench: EventLogBench, log: EventLog, { of = run, after = 0, signal }: ReaderOptions = {}) {
    this.#bench = bench
    this.#events = log.read(of, after, signal)[Symbol.asyncIterator]()
  }

  /** The next events; fewer where the run ends. */
  async take(count: number): Promise<LoggedEvent[]> {
    const taken: LoggedEvent[] = []
    while (taken.length < count) {
      const { done, value } = await soon(this.#bench, this.#events.next(), 'A reader gets the next event, or the end')
      if (done === true) return taken
      taken.push(value)
    }
    return taken
  }

  /** All events until the run ends. */
  rest(): Promise<LoggedEvent[]> {
    return this.take(Number.POSITIVE_INFINITY)
  }

  next(): Promise<IteratorResult<LoggedEvent, undefined>> {
    return this.#events.next()
  }

  async leave(): Promise<void> {
    await this.#events.return?.(undefined)
  }
}
interface ReaderOptions {
  of?: RunKey
  after?: number
  signal?: AbortSignal
}

/** What readers find in a run that has ended. */
export async function eventsIn(bench: EventLogBench, log: EventLog, of: RunKey = run, after = 0): Promise<unknown[]> {
  return (await new Reader(bench, log, { of, after }).rest()).map(({ event }) => event)
}

export function steer(id: string, text = `steer ${id}`): RunSignal {
  return { steer: text, id }
}
