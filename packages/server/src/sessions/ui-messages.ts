import type { DisplayTransform, Message, Part, PendingCall, ToolResultPart } from '@allium/core'
import { base64Of, resultText } from '@allium/core/internal'
import type { HistoryEntry } from '../request/read-history.ts'

/** A message in the format of the AI SDK's `useChat`: https://ai-sdk.dev/docs/reference/ai-sdk-core/ui-message */
export interface UiMessage {
  id: string
  role: 'system' | 'user' | 'assistant'
  parts: UiPart[]
}

type UiPart = { type: string; [field: string]: unknown }

/** The contents of a session for a page. */
export interface UiMessagesInput {
  readonly history: readonly Pick<HistoryEntry, 'index' | 'message'>[]
  readonly pending: readonly PendingCall[]
  /** Pending calls that the active run has resumed. */
  readonly resumedCalls?: readonly string[] | undefined
  /** Transforms a stored text as in the stream. */
  readonly display: DisplayTransform
  /** The URLs that serve the data of files. @default the data is in the message */
  readonly links?: Links | undefined
}

/**
 * Returns the answers to one input as one message, as in the stream, with the steering messages that arrived during the answers. Results
 * are merged into their calls, and pending calls request an approval.
 */
export function uiMessages({ history, pending, resumedCalls, display, links }: UiMessagesInput): UiMessage[] {
  const states: CallStates = { pending, resumedCalls: new Set(resumedCalls), display, links }
  const allParts = history.flatMap(({ message }) => partsOf(message))
  const results = new Map(allParts.flatMap((part) => (part.type === 'tool-result' ? [[part.callId, part]] : [])))
  const messages: UiMessage[] = []
  for (const { index, message } of history) {
    if (message.role === 'tool') continue
    const isSteer = message.steer !== undefined
    const role = isSteer ? 'assistant' : message.role
    const converted = partsOf(message).flatMap((part) => uiPart(part, results, states))
    const parts = isSteer
      ? [steerPart(message.steer, converted)]
      : role === 'assistant'
        ? [stepStart, ...converted]
        : converted
    const previous = messages.at(-1)
    if (role === 'assistant' && previous?.role === 'assistant') previous.parts.push(...parts)
    else messages.push({ id: message.id ?? `message-${index}`, role, parts })
  }
  return messages
}

const stepStart: UiPart = { type: 'step-start' }

/** A steering message, at the place where it was delivered. It has the text, for pages that did not send it. */
function steerPart(id: string | undefined, parts: readonly UiPart[]): UiPart {
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  const files = parts.filter(({ type }) => type === 'file')
  return { type: 'data-steer', id, data: { delivered: true, text, ...(files.length > 0 && { files }) } }
}

function partsOf({ content }: Message): readonly Part[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}

type Links = ReadonlyMap<Part, string>

interface CallStates {
  readonly links: Links | undefined
  readonly pending: readonly PendingCall[]
  readonly resumedCalls: ReadonlySet<string>
  readonly display: DisplayTransform
}

function uiPart(part: Part, results: ReadonlyMap<string, ToolResultPart>, states: CallStates): UiPart[] {
  const { pending, resumedCalls, display, links } = states
  if (part.type === 'text') return part.text === '' ? [] : [{ type: 'text', text: display(part.text), state: 'done' }]
  if (part.type === 'reasoning') return [{ type: 'reasoning', text: display(part.text), state: 'done' }]
  if (part.type === 'image' || part.type === 'file') return fileOf(part, links)
  if (part.type !== 'tool-call') return []
  const { callId: toolCallId, name, args } = part
  const call = { type: `tool-${name}`, toolCallId }
  const pendingCall = pending.find(({ callId }) => callId === toolCallId)
  const nested = pending.filter(({ callId, path }) => path !== undefined && callId.startsWith(`${toolCallId}/`))
  if (nested.length > 0)
    return [
      { ...call, state: 'output-available', input: args, output: 'Waits for a decision.' },
      ...nested.map((nestedCall) => approvalPart(nestedCall, resumedCalls)),
    ]
  if (pendingCall?.client === true) return [{ ...call, state: 'input-available', input: pendingCall.args }]
  if (pendingCall !== undefined) return [approvalPart(pendingCall, resumedCalls)]
  const result = results.get(toolCallId)
  if (result === undefined) return [{ ...call, state: 'input-available', input: args }]
  const text = resultText(result.content)
  if (result.isError === true) return [{ ...call, state: 'output-error', input: args, errorText: text }]
  return [{ ...call, state: 'output-available', input: args, output: text }]
}

/** The approval request of a call. A call in a sub-agent has a separate one, next to that of the call that runs the sub-agent. */
function approvalPart({ callId, name, args, token }: PendingCall, resumedCalls: ReadonlySet<string>): UiPart {
  const call = { type: `tool-${name}`, toolCallId: callId, input: args }
  if (resumedCalls.has(callId)) return { ...call, state: 'input-available' }
  return { ...call, state: 'approval-requested', approval: { id: token ?? callId } }
}

function fileOf(part: Extract<Part, { mediaType: string }>, links?: Links): UiPart[] {
  return [{ type: 'file', mediaType: part.mediaType, url: links?.get(part) ?? fileUrl(part) }]
}

/** Returns a data URL for bytes and base64, and the URL of data elsewhere. */
export function fileUrl({ data, mediaType }: { data: Uint8Array | URL | string; mediaType: string }): string {
  if (data instanceof URL) return data.href
  const base64 = typeof data === 'string' ? data : base64Of(data)
  return /^[a-z][a-z0-9+.-]*:/i.test(base64) ? base64 : `data:${mediaType};base64,${base64}`
}

/** A chunk of a UI message stream: https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol */
export type UiChunk = { type: string; [field: string]: unknown }
