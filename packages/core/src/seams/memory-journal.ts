import { merged } from '../messages/join-deltas.ts'
import { fromJson, toJson } from '../messages/plain-json.ts'
import { type Emit, isCancellation, type Journal } from './journal.ts'

import { decodeOutcome, encodeOutcome, outcomeOf, type StepOutcome } from './outcome.ts'

/** What one step emitted, and what it came to, as texts: what a layer needs beyond them is missed here, too. */
interface Entry {
  readonly items: string
  readonly outcome: string
}

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

function open(entries: Map<string, Entry>): MemoryJournal {
  const ran: string[] = []
  let limit = Number.POSITIVE_INFINITY
  let died = () => {}

  const keep = (id: string, entry: Entry): Promise<void> => {
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
      if (known !== undefined) return replay<T, C>(known, emit)
      if (entries.size >= limit) return new Promise(() => {})
      ran.push(id)
      const items: unknown[] = []
      const entry = (outcome: StepOutcome) => ({ items: toJson(merged(items)), outcome: encodeOutcome(outcome) })
      const ended = await outcomeOf(() =>
        work((item) => {
          items.push(item)
          return emit(item)
        }),
      )
      if (!('error' in ended) || !isCancellation(ended.error)) await keep(id, entry(ended))
      if ('error' in ended) throw ended.error
      return ended.result as T
    },
    known: (id) => entries.has(id),
    killAfter(steps) {
      limit = entries.size + steps
      return new Promise((resolve) => (died = resolve))
    },
    reopen: () => open(new Map(entries)),
  }
}

async function replay<T, C>({ items, outcome }: Entry, emit: Emit<C>): Promise<T> {
  for (const item of fromJson(items) as C[]) await emit(item)
  const ended = decodeOutcome(outcome)
  if ('error' in ended) throw ended.error
  return ended.result as T
}
