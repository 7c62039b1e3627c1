import type { CustomEvent, LayerEvent, PendingCall, StreamEvent } from '@allium/core'
import type { LoggedEvent } from '@allium/store'

/** The run failed. Has the parts of the error that a client may see. */
export interface RunError {
  type: 'run:error'
  code: string
  message: string
  /** The HTTP status. */
  status?: number
  /** Milliseconds after which a retry makes sense. */
  retryAfter?: number
}

/** An event of a run's stream as it is logged. */
export type RunEvent = StreamEvent | RunError | CustomEvent

/** A logged event of a run. Tokens and unredacted values are in `pending`, because only approvers may see them. */
export interface Entry {
  event: RunEvent
  pending?: readonly PendingCall[]
  /** The decided calls, if the run begins with decisions. */
  decided?: readonly string[]
  /** The digest of the request, if the run begins with an idempotency key. A repeated request must have the same digest. */
  fingerprint?: string
  /** The client runs the call that begins here. */
  client?: true
}

/** The facts about a run that its events do not have. */
export interface EntryContext {
  /** Names of the tools that the client runs. */
  readonly clientTools: ReadonlySet<string> | undefined
  readonly decided: readonly string[] | undefined
}

export function entryOf(event: StreamEvent | LayerEvent | RunError, { clientTools, decided }: EntryContext): Entry {
  if (event.type === 'turn:start' && decided !== undefined && !('path' in event))
    return { event: event as RunEvent, decided }
  if (event.type === 'tool-input-start' && clientTools?.has((event as { name: string }).name) && !('path' in event))
    return { event: event as RunEvent, client: true }
  if (event.type !== 'turn:end' || !('pending' in event)) return { event: event as RunEvent }
  const { pending, ...rest } = event as StreamEvent & { pending?: readonly PendingCall[] }
  return pending === undefined ? { event: rest as RunEvent } : { event: rest as RunEvent, pending }
}

export function toEntry({ event }: LoggedEvent): Entry {
  return event as Entry
}

/** Returns the event for a reader who may approve the pending calls. */
export function openedEvent({ event, pending }: Entry): RunEvent {
  return pending === undefined ? event : ({ ...event, pending } as RunEvent)
}
