import { AlliumError } from '@allium/core'
import type { EventReader, LoggedEvent } from '@allium/store'
import type { Entry, RunError } from '@allium/store/event-log'
import { problemOf } from '../http/problem.ts'

/** An entry of a run's log with its position. Entries from the server itself have no position. */
export interface RunEntry extends Entry {
  run?: string
  seq?: number
}

/** The events of a run for one reader. `take()` returns buffered events, so that a batch of events waits only once. */
export interface EntryReader {
  /** Waits for the next event. Returns undefined at the end. */
  next(): Promise<RunEntry | undefined>
  /** Returns the next event if it is buffered. */
  take(): RunEntry | undefined
}

/** Returns a reader for the events that a log returns. */
export function readEntries(turnId: string, events: Pick<EventReader, 'next' | 'take'>): EntryReader {
  const entryIn = ({ value }: IteratorResult<LoggedEvent, undefined>) => value && toRunEntry(turnId, value)
  return {
    next: () => events.next().then(entryIn),
    take: () => {
      const event = events.take?.()
      return event && toRunEntry(turnId, event)
    },
  }
}

/** Returns a reader for entries that were read before, then the result of a pending `next()`, then the rest. */
export function concatEntries(
  first: readonly RunEntry[],
  pendingNext: Promise<RunEntry | undefined> | undefined,
  rest: EntryReader,
): EntryReader {
  let position = 0
  let inFlight = pendingNext
  return {
    next: () => {
      const [entry, pending] = [first[position], inFlight]
      if (entry !== undefined) {
        position++
        return Promise.resolve(entry)
      }
      inFlight = undefined
      return pending ?? rest.next()
    },
    take: () => (position < first.length ? first[position++] : inFlight === undefined ? rest.take() : undefined),
  }
}

/** Returns a reader that waits for another reader. */
export function deferEntries(pendingReader: Promise<EntryReader>): EntryReader {
  let reader: EntryReader | undefined
  const openReader = async () => {
    reader = await pendingReader
    return reader.next()
  }
  return { next: () => reader?.next() ?? openReader(), take: () => reader?.take() }
}

/** All entries have the same shape: spreading the parsed object costs more than reading its fields. */
function toRunEntry(run: string, { seq, event: logged }: LoggedEvent): RunEntry {
  const { event, pending, decided, client } = logged as Entry
  const entry: RunEntry = { event: event.type === 'run:error' ? withStatus(event as RunError) : event, run, seq }
  if (pending !== undefined) entry.pending = pending
  if (decided !== undefined) entry.decided = decided
  if (client !== undefined) entry.client = client
  return entry
}

/** Adds the HTTP status. A durable run has no server, so its error has only a code. */
function withStatus(error: RunError): RunError {
  if (error.status !== undefined) return error
  return { ...error, ...problemOf(new AlliumError(error.code as AlliumError['code'], error.message), 0) }
}
