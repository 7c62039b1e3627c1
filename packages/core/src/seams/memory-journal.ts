import type { Emit, Journal } from './journal.ts'
import { recordStep, replayStep } from './step-record.ts'

export interface MemoryJournal extends Journal {
  /** Ids of the steps that really ran here, in order; replayed ones are not among them. */
  readonly ran: readonly string[]
  /** Ids of all steps that are recorded. */
  readonly recorded: readonly string[]
  /** Once this many steps are recorded nothing goes on any more, as in a process that was killed. Resolves then. */
  killAfter(steps: number): Promise<void>
  /** The journal as the next process finds it. */
  reopen(): MemoryJournal
}

/**
 * Records every step in this process, and gives those that are recorded again without running them. A run that was killed
 * goes on where it was: start it again with the same input and the same ids. What an engine for durable execution does
 * across machines, to test against: it keeps texts, with neighbouring deltas as one. A cancelled step is not recorded.
 */
export function memoryJournal(): MemoryJournal {
  return open(new Map())
}

/** @param entries steps as texts: what a layer needs beyond them is missed here, too */
function open(entries: Map<string, string>): MemoryJournal {
  const ran: string[] = []
  let limit = Number.POSITIVE_INFINITY
  let died = () => {}

  const store = (id: string, entry: string): Promise<void> => {
    if (entries.size < limit) entries.set(id, entry)
    if (entries.size < limit) return Promise.resolve()
    died()
    return new Promise(() => {})
  }

  return {
    ran,
    get recorded() {
      return [...entries.keys()]
    },
    async step<T, C>(id: string, work: (emit: Emit<C>) => T | PromiseLike<T>, emit: Emit<C>): Promise<T> {
      const known = entries.get(id)
      if (known !== undefined) return replayStep<T, C>(known, emit)
      if (entries.size >= limit) return new Promise(() => {})
      ran.push(id)
      return recordStep(work, emit, (record) => store(id, record))
    },
    known: (id) => entries.has(id),
    killAfter(steps) {
      limit = entries.size + steps
      return new Promise((resolve) => (died = resolve))
    },
    reopen: () => open(new Map(entries)),
  }
}
