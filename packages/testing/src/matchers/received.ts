import type { Message, StreamEvent } from '@allium/core'

/** A list of a run's events, what `runLayer` gave, or anything else that has `events`. */
export type EventSource = readonly { type: string }[] | { readonly events: readonly { type: string }[] }
/** Messages, or what has them: a session, a snapshot, what `runLayer` gave (`history`), a result (`messages`). */
export type HistorySource =
  | readonly Message[]
  | { readonly history: readonly Message[] }
  | { readonly messages: readonly Message[] }

/** The events of a source; undefined where it has none. */
export function eventsOf(source: unknown): readonly StreamEvent[] | undefined {
  if (isListOf(source, 'type')) return source as StreamEvent[]
  const { events } = fieldsOf(source)
  return isListOf(events, 'type') ? (events as StreamEvent[]) : undefined
}

/** The events of the run itself, without those of its sub-agents. */
export function topLevelEvents(events: readonly StreamEvent[]): readonly StreamEvent[] {
  return events.filter((event) => !('path' in event) || event.path === undefined)
}

/** The messages of a source; undefined where it has none. */
export function historyOf(source: unknown): readonly Message[] | undefined {
  if (isListOf(source, 'role')) return source as Message[]
  const { history, messages } = fieldsOf(source)
  return [history, messages].find((list) => isListOf(list, 'role')) as Message[] | undefined
}

/** Why a source was not understood, with the mend. */
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
