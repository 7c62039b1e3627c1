import type { Message, StreamEvent, ToolCallRecord, ToolStatus } from '@allium/core'
import {
  type EventSource,
  eventsOf,
  fieldsOf,
  type HistorySource,
  historyOf,
  topLevelEvents,
  wrongReceiver,
} from './received.ts'

/** A result, or an object with the events or messages of one. */
export type CallSource = { readonly toolCalls: readonly ToolCallRecord[] } | EventSource | HistorySource

/** A tool call by the model. */
export interface CalledTool {
  callId: string
  name: string
  args: Readonly<Record<string, unknown>>
  /** The status of the call; undefined while it waits. From messages, which lack the status, `ok` or `error`. */
  status: ToolStatus | undefined
}

/**
 * Returns the tool calls of a model in order, with any outcome; `status` distinguishes a denied call from one that ran. Calls of
 * sub-agents are left out. For node:test and others; vitest has `toHaveCalledTool`.
 *
 * @throws TypeError for a value without result, events or messages, such as a run that was not awaited
 */
export function calledTools(source: CallSource): CalledTool[] {
  const { toolCalls, result } = fieldsOf(source)
  if (Array.isArray(toolCalls)) return toolCalls.map(fromRecord)
  if (Array.isArray(fieldsOf(result).toolCalls)) return (fieldsOf(result).toolCalls as ToolCallRecord[]).map(fromRecord)
  const events = eventsOf(source)
  if (events !== undefined) return fromEvents(topLevelEvents(events))
  const history = historyOf(source)
  if (history !== undefined) return fromHistory(history)
  throw wrongReceiver('a result, a list of events or a history', source)
}

/** Returns a call as one line: `refund({"amount":900}) denied`. */
export function callLine({ name, args, status }: CalledTool): string {
  const json = JSON.stringify(args)
  return `${name}(${json.length > 200 ? `${json.slice(0, 199)}…` : json}) ${status ?? 'waits'}`
}

function fromRecord({ callId, name, args, result }: ToolCallRecord): CalledTool {
  return { callId, name, args, status: result.status }
}

function fromEvents(events: readonly StreamEvent[]): CalledTool[] {
  const ends = new Map(events.flatMap((event) => (event.type === 'tool:end' ? [[event.callId, event.status]] : [])))
  return events.flatMap((event) => {
    if (event.type !== 'tool:start') return []
    const { callId, name, args } = event
    return [{ callId, name, args, status: ends.get(callId) }]
  })
}

function fromHistory(history: readonly Message[]): CalledTool[] {
  const parts = history.flatMap(({ content }) => (typeof content === 'string' ? [] : content))
  const ends = new Map(parts.flatMap((part) => (part.type === 'tool-result' ? [[part.callId, part.isError]] : [])))
  return parts.flatMap((part) => {
    if (part.type !== 'tool-call') return []
    const { callId, name, args } = part
    const status = ends.has(callId) ? (ends.get(callId) === true ? 'error' : 'ok') : undefined
    return [{ callId, name, args, status }]
  })
}
