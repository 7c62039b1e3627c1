import type { Message, StreamEvent } from '@allium/core'

/** A list of a run's events, the result of `runLayer`, or another object with `events`. */
export type EventSource = readonly { type: string }[] | { readonly events: readonly { type: string }[] }
/** Messages, or an object with messages: a session, a snapshot, the result of `runLayer` (`history`), a result (`messages`). */
export type HistorySource =
  | readonly Message[]
  | { readonly history: readonly Message[] }
  | { readonly messages: readonly Message[] }

/** Returns the events of a source; undefined if it has none. */
export function eventsOf(source: unknown): readonly StreamEvent[] | undefined {
  if (isListOf(source, 'type')) return source as StreamEvent[]
  const { events } = fieldsOf(source)
  return isListOf(events, 'type') ? (events as StreamEvent[]) : undefined
}

/** Returns the events of the run itself, without those of its sub-agents. */
export function topLevelEvents(events: readonly StreamEvent[]): readonly StreamEvent[] {
  return events.filter((event) => !('path' in event) || event.path === undefined)
}

/** Returns the messages of a source; undefined if it has none. */
export function historyOf(source: unknown): readonly Message[] | undefined {
  if (isListOf(source, 'role')) return source as Message[]
  const { history, messages } = fieldsOf(source)
  return [history, messages].find((list) => isListOf(list, 'role')) as Message[] | undefined
}

/** Returns the error for an unsupported source, with a fix. */
export function wrongReceiver(expectedKind: string, source: unknown): TypeError {
  const found =
    typeof source === 'object' ? `an object with ${Object.keys(fieldsOf(source)).join(', ')}` : String(source)
  const isRun = typeof fieldsOf(source).then === 'function'
  const what = isRun ? 'a run or a promise: await it, or collect its events, before you look at it' : found
  return new TypeError(`Expected ${expectedKind}, but got ${what}.`)
}

export function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function isListOf(value: unknown, field: string): value is readonly object[] {
  return Array.isArray(value) && value.every((item) => typeof fieldsOf(item)[field] === 'string')
}
