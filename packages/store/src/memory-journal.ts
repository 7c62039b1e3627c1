import type { Emit, Journal } from '@allium/core'
import { ReplayCheck } from './replay-check.ts'
import { recordStep, replayStep } from './step-record.ts'

export interface MemoryJournal extends Journal {
  /** Ids of the steps that ran in this process, in order, without replayed ones. */
  readonly ran: readonly string[]
  /** Ids of all recorded steps. */
  readonly recorded: readonly string[]
  /** Simulates a killed process: after this many more recorded steps, nothing continues. Resolves at that point. */
  killAfter(steps: number): Promise<void>
  /** Returns a copy of the journal as the next process would load it. */
  reopen(): MemoryJournal
}

/**
 * Records every step in this process, and replays recorded steps without running them. To continue a killed run, start it again
 * with the same input and the same ids. For tests of code that uses a durable execution engine. Like such an engine, it stores
 * text, merges adjacent deltas and does not record a cancelled step.
 */
export function memoryJournal(): MemoryJournal {
  return open(new Map())
}

interface Entry {
  /** The step as text, so that data that a real journal would lose is lost here too. */
  readonly text: string
  /** The steps that were running when it began. */
  readonly during: readonly string[]
}

function open(entries: Map<string, Entry>): MemoryJournal {
  const ran: string[] = []
  const check = new ReplayCheck()
  for (const [id, { during }] of entries) check.add(id, during)
  let limit = Number.POSITIVE_INFINITY
  let died = () => {}

  const store = (id: string, entry: Entry): Promise<void> => {
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
      check.use(id)
      if (known !== undefined) return replayStep<T, C>(known.text, emit)
      if (entries.size >= limit) return new Promise(() => {})
      const waiting = check.wait(id)
      if (waiting !== undefined) await waiting
      const during = check.begin(id)
      ran.push(id)
      try {
        return await recordStep(work, emit, (text) => {
          check.throwIfDiverged()
          return store(id, { text, during })
        })
      } finally {
        check.end(id)
      }
    },
    known: (id) => entries.has(id),
    checkEnd: (turnId) => check.checkEnd(turnId),
    killAfter(steps) {
      limit = entries.size + steps
      return new Promise((resolve) => (died = resolve))
    },
    reopen: () => open(new Map(entries)),
  }
}
