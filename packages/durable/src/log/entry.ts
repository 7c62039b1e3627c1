import type { CustomEvent, LayerEvent, LoggedEvent, PendingCall, StreamEvent } from '@allium/core'

/** The run has failed; what a client may know of it. */
export interface RunError {
  type: 'run:error'
  code: string
  message: string
  /** As an answer over HTTP has it. */
  status?: number
  /** Milliseconds after which it is worth another try. */
  retryAfter?: number
}

/** An event of a run's stream as it stands in a log. */
export type RunEvent = StreamEvent | RunError | CustomEvent

/** An event of a run in the log. Tokens and true values stand apart: they are for who may decide. */
export interface Entry {
  event: RunEvent
  pending?: readonly PendingCall[]
  /** Where the run begins with decisions: the calls that they are about. */
  decided?: readonly string[]
  /** Where the run begins with an idempotency key: the digest of its request, which a repeated request must have too. */
  asked?: string
  /** The call that begins here is one that the client runs. */
  client?: true
}

/** What is known of a run beside its events. */
export interface EntryContext {
  /** The names of the tools that the client runs. */
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

/** The event for somebody who may decide about the calls that wait. */
export function openedEvent({ event, pending }: Entry): RunEvent {
  return pending === undefined ? event : ({ ...event, pending } as RunEvent)
}
