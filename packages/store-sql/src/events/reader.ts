import { followSignal, isAlliumError } from '@allium/core'
import type { LoggedEvent, RunKey } from '@allium/store'
import type { EventSealer } from './event-sealer.ts'
import type { EventTable } from './event-table.ts'
import type { AppendedHead, HeadObserver, Poller } from './poller.ts'

export interface ReaderSources {
  readonly table: EventTable
  readonly sealer: EventSealer
  readonly poller: Poller
}

/** Yields the events of a run to one reader. A reader that leaves wakes its own `next()`, which may be waiting for an event. */
export function readRun(
  sources: ReaderSources,
  run: RunKey,
  after: number,
  signal: AbortSignal | undefined,
): AsyncIterableIterator<LoggedEvent, undefined> {
  const state = new ReaderState()
  const events = readEvents(sources, run, { after, state, signal })
  return {
    next: () => events.next(),
    return: () => {
      state.close()
      return events.return(undefined)
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

/** Whether the reader is still there. One object for all events, because a signal per event would need as many listeners. */
class ReaderState {
  closed = false
  /** Ends the current wait. */
  wake = () => {}

  close(): void {
    this.closed = true
    this.wake()
  }
}

interface ReadOptions {
  after: number
  state: ReaderState
  signal: AbortSignal | undefined
}

async function* readEvents(
  { table, sealer, poller }: ReaderSources,
  run: RunKey,
  { after, state, signal }: ReadOptions,
): AsyncGenerator<LoggedEvent, undefined> {
  /** A run that was deleted meanwhile has lost its images, too. */
  const unlessGone = async (error: unknown) => {
    const isMissing = isAlliumError(error, 'store.corrupt') && error.details?.missing === true
    if (isMissing && (await table.heads([run]))[0] === undefined) return undefined
    throw error
  }
  const unfollow = signal === undefined ? () => {} : followSignal(signal, () => state.close())
  let seq = Math.max(0, Math.floor(after) || 0)
  try {
    while (!state.closed) {
      const head = await headAfter(poller, run, seq, state)
      if (head === undefined || head.seq <= seq) return undefined
      const { batch: next } = head
      const batches = next?.first === seq + 1 ? [next] : await table.batches(run, seq)
      // Another process may have deleted the run that this one appended to, so the table must be queried again.
      if (batches.length === 0) poller.forget(run)
      for (const batch of batches) {
        const maybeEvents = sealer.openEvents(run, batch)
        const events = maybeEvents instanceof Promise ? await maybeEvents.catch(unlessGone) : maybeEvents
        if (events === undefined) return undefined
        for (const [i, event] of events.entries()) {
          if (state.closed) return undefined
          if (batch.first + i <= seq) continue
          seq = batch.first + i
          yield { seq, event }
        }
      }
      if (head.ended && seq >= head.seq) return undefined
    }
  } finally {
    unfollow()
  }
  return undefined
}

/** Resolves to the run's position once it has events after `seq` or has ended; undefined if it does not exist or the reader left. */
function headAfter(poller: Poller, run: RunKey, seq: number, state: ReaderState): Promise<AppendedHead | undefined> {
  return new Promise((resolve, reject) => {
    const unsubscribe = () => {
      poller.delete(observer)
      state.wake = () => {}
    }
    const onHead = (head: AppendedHead | undefined) => {
      if (head !== undefined && head.seq <= seq && !head.ended) return false
      unsubscribe()
      resolve(head)
      return true
    }
    const observer: HeadObserver = {
      run,
      idle: false,
      onHead: onHead,
      onAppend: (appended) => void onHead(appended),
      onError(error: unknown) {
        unsubscribe()
        reject(error)
      },
    }
    state.wake = () => {
      unsubscribe()
      resolve(undefined)
    }
    poller.add(observer)
  })
}
