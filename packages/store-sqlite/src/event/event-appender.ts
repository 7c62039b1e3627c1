import type { RunKey } from '@allium/store'
import type { AppendOutcome, EventTable } from '@allium/store-sql'
import type { StoreParts } from '../store-parts.ts'
import type { AppendedHead, EventRuns } from './event-runs.ts'

type Batch = Parameters<EventTable['append']>[2]

interface AppendRequest extends Omit<Parameters<EventTable['append']>[3], 'request'> {
  readonly run: RunKey
  readonly epoch: number
  readonly batch: Batch
}

/** Appends events to runs. Every method runs inside a transaction. */
export class EventAppender {
  readonly #parts: StoreParts
  readonly #runs: EventRuns

  constructor(parts: StoreParts, runs: EventRuns) {
    this.#parts = parts
    this.#runs = runs
  }

  append(request: AppendRequest): AppendOutcome {
    const { run, epoch, batch, end, mustExist } = request
    // A run that takes the append, or a new one, needs no look at its row.
    const isOpening = batch === undefined && !end && !mustExist
    const appended = isOpening ? this.#open(request) : this.#advance(request)
    if (appended !== undefined) return appended
    const existing = this.#runs.find(run)
    if (existing === undefined) return (mustExist ? undefined : this.#open(request)) ?? { fenced: 'gone' }
    if (epoch < existing.epoch) return { fenced: 'taken' }
    if (epoch === existing.epoch && existing.ended) return { fenced: 'ended' }
    const undelivered = end ? this.#runs.undeliveredAtEnd(existing) : []
    if (undelivered.length === 0) return this.#advance(request, existing.lastSignal) as AppendOutcome
    this.#advance({ ...request, batch: undefined, end: false })
    return { undelivered }
  }

  /** Returns undefined if the run exists, or its owner was erased since the writer's run began. */
  #open(request: AppendRequest): AppendOutcome | undefined {
    const { run, epoch, batch, end, by } = request
    const { clock, writers } = this.#parts
    const opening = { epoch, now: clock.now() }
    let row = this.#runs.add(run, opening)
    if (row === undefined) {
      const token = writers.findToken(run.key, by)
      if (token !== undefined) row = this.#runs.open(run, { ...opening, token })
    }
    if (row === undefined) return undefined
    const head = batch === undefined && !end ? row : (this.#advance(request) as AppendedHead)
    return { ...head, opened: true }
  }

  /**
   * Returns undefined if the run takes no events of this epoch, or has signals.
   *
   * @param lastSignal the last signal that may be stored when the run ends
   */
  #advance({ run, epoch, batch, end, write }: AppendRequest, lastSignal = 0): AppendedHead | undefined {
    const { clock, blobTable } = this.#parts
    const now = clock.now()
    const head = this.#runs.advance(run, { epoch, batch, end, now, lastSignal })
    if (head === undefined) return undefined
    if (batch !== undefined) blobTable.assignHolder(run.key, 'event', run.turnId, write)
    if (end) this.#runs.deleteExpired(now)
    return head
  }
}
