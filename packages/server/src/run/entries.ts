import { AlliumError, type EventReader, type LoggedEvent } from '@allium/core'
import type { Entry, RunError } from '@allium/durable/log'
import { problemOf } from '../http/problem.ts'
import type { Placed } from './entry.ts'

/** The events of a run for one reader: those that are here are taken at once, so that what came together waits once. */
export interface Entries {
  /** Waits for the next; undefined at the end. */
  next(): Promise<Placed | undefined>
  /** The next, where nobody has to wait for it. */
  take(): Placed | undefined
}

/** Those of a run, as a log gives them. */
export function entriesOf(turnId: string, events: EventReader): Entries {
  return {
    next: async () => {
      const { value } = await events.next()
      return value && placed(turnId, value)
    },
    take: () => {
      const event = events.take?.()
      return event && placed(turnId, event)
    },
  }
}

/** The first ones, which were read already, then what a `next()` gives that was asked, then the rest. */
export function entriesBehind(
  first: readonly Placed[],
  asked: Promise<Placed | undefined> | undefined,
  rest: Entries,
): Entries {
  let at = 0
  let waiting = asked
  return {
    next: () => {
      const [entry, given] = [first[at], waiting]
      if (entry !== undefined) {
        at++
        return Promise.resolve(entry)
      }
      waiting = undefined
      return given ?? rest.next()
    },
    take: () => (at < first.length ? first[at++] : waiting === undefined ? rest.take() : undefined),
  }
}

/** Those that there will be. */
export function entriesIn(opening: Promise<Entries>): Entries {
  let opened: Entries | undefined
  const open = async () => {
    opened = await opening
    return opened.next()
  }
  return { next: () => opened?.next() ?? open(), take: () => opened?.take() }
}

/** One shape for all: spreading what was parsed costs more than reading it. */
function placed(run: string, { seq, event: logged }: LoggedEvent): Placed {
  const { event, pending, decided, client } = logged as Entry
  const entry: Placed = { event: event.type === 'run:error' ? withStatus(event as RunError) : event, run, seq }
  if (pending !== undefined) entry.pending = pending
  if (decided !== undefined) entry.decided = decided
  if (client !== undefined) entry.client = client
  return entry
}

/** A durable run knows no server: its error is told by its code alone. */
function withStatus(error: RunError): RunError {
  if (error.status !== undefined) return error
  return { ...error, ...problemOf(new AlliumError(error.code as AlliumError['code'], error.message), 0) }
}
