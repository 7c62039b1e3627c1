import { followSignal, isAlliumError, type LoggedEvent, type RunKey } from '@allium/core'
import type { EventSealer } from './event-sealer.ts'
import type { EventTable } from './event-table.ts'
import type { Appended, Poller, Watcher } from './poller.ts'

export interface ReaderSources {
  readonly table: EventTable
  readonly sealer: EventSealer
  readonly poller: Poller
}

/** The events of a run for one reader. Who leaves wakes its own `next()`, which may wait for an event. */
export function readRun(
  sources: ReaderSources,
  run: RunKey,
  after: number,
  signal: AbortSignal | undefined,
): AsyncIterableIterator<LoggedEvent, undefined> {
  const reader = new Reader()
  const events = eventsOf(sources, run, { after, reader, signal })
  return {
    next: () => events.next(),
    return: () => {
      reader.leave()
      return events.return(undefined)
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

/** Whether somebody still reads. One waits for each event: a signal of its own for that would be listened to as often. */
class Reader {
  left = false
  /** Ends what it waits for. */
  wake = () => {}

  leave(): void {
    this.left = true
    this.wake()
  }
}

interface Place {
  after: number
  reader: Reader
  signal: AbortSignal | undefined
}

async function* eventsOf(
  { table, sealer, poller }: ReaderSources,
  run: RunKey,
  { after, reader, signal }: Place,
): AsyncGenerator<LoggedEvent, undefined> {
  /** A run that was deleted meanwhile has lost its images, too. */
  const unlessGone = async (error: unknown) => {
    const isMissing = isAlliumError(error, 'store.corrupt') && error.details?.missing === true
    if (isMissing && (await table.heads([run]))[0] === undefined) return undefined
    throw error
  }
  const untie = signal === undefined ? () => {} : followSignal(signal, () => reader.leave())
  let seq = Math.max(0, Math.floor(after) || 0)
  try {
    while (!reader.left) {
      const head = await beyond(poller, run, seq, reader)
      if (head === undefined || head.seq <= seq) return undefined
      const { batch: next } = head
      const batches = next?.first === seq + 1 ? [next] : await table.batches(run, seq)
      // Another process has deleted the run to which this one has appended: the table tells how it stands.
      if (batches.length === 0) poller.lost(run)
      for (const batch of batches) {
        const opened = sealer.events(run, batch)
        const events = opened instanceof Promise ? await opened.catch(unlessGone) : opened
        if (events === undefined) return undefined
        for (const [i, event] of events.entries()) {
          if (reader.left) return undefined
          if (batch.first + i <= seq) continue
          seq = batch.first + i
          yield { seq, event }
        }
      }
    }
  } finally {
    untie()
  }
  return undefined
}

/** How the run stands once it has events behind a place, or has ended; undefined where it is not there, or the reader left. */
function beyond(poller: Poller, run: RunKey, seq: number, reader: Reader): Promise<Appended | undefined> {
  return new Promise((resolve, reject) => {
    const over = () => {
      poller.delete(watcher)
      reader.wake = () => {}
    }
    const came = (head: Appended | undefined) => {
      if (head !== undefined && head.seq <= seq && !head.ended) return false
      over()
      resolve(head)
      return true
    }
    const watcher: Watcher = {
      run,
      idle: false,
      see: came,
      hear: (appended) => void came(appended),
      fail(error: unknown) {
        over()
        reject(error)
      },
    }
    reader.wake = () => {
      over()
      resolve(undefined)
    }
    poller.add(watcher)
  })
}
