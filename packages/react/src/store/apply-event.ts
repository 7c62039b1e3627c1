import type { PendingCall } from '@allium/core'
import type { ClientEvent } from '@allium/server/client'
import type { ChatMessage, MessagePart, MessageStatus, ToolPart } from './chat-message.ts'

/** Returns the answer after an event of its run. */
export function applyEvent(message: ChatMessage, event: ClientEvent, steerText: (id: string) => string): ChatMessage {
  const { parts } = message
  switch (event.type) {
    case 'text-delta':
      return { ...message, parts: appended(parts, 'text', event.delta) }
    case 'reasoning-delta':
      return { ...message, parts: appended(parts, 'reasoning', event.delta) }
    case 'file':
      return { ...message, parts: [...parts, fileOf(event)] }
    case 'source':
      return { ...message, parts: [...parts, sourceOf(event)] }
    case 'tool-input-start':
      return withTool(message, { callId: event.callId, name: event.name, state: 'input' })
    case 'tool:start':
      return withTool(message, { callId: event.callId, name: event.name, args: event.args, state: 'running' })
    case 'tool:end':
      return withTool(message, {
        callId: event.callId,
        name: event.name,
        state: event.status === 'denied' ? 'denied' : event.isError ? 'error' : 'done',
        result: event.content,
        call: undefined,
      })
    case 'steer:delivered':
      return { ...message, parts: [...parts, { type: 'steer', id: event.id, text: steerText(event.id) }] }
    case 'turn:end':
      return ended(message, event)
    case 'run:error':
      return { ...message, status: 'failed' }
    default:
      return message
  }
}

/** Marks the pending calls in the parts of a message. Calls of sub-agents get a part of their own. */
function withPending(message: ChatMessage, pending: readonly PendingCall[]): ChatMessage {
  return pending.reduce<ChatMessage>(
    (changed, call) =>
      withTool(changed, { callId: call.callId, name: call.name, args: call.args, state: 'pending', call }),
    message,
  )
}

const statuses: Readonly<Record<string, MessageStatus>> = {
  completed: 'done',
  stopped: 'stopped',
  aborted: 'stopped',
  blocked: 'blocked',
  suspended: 'suspended',
  failed: 'failed',
}

function ended(message: ChatMessage, event: ClientEvent & { type: 'turn:end' }): ChatMessage {
  const reason = event.reason === undefined ? {} : { reason: event.reason }
  const marked = withPending(message, (event.pending ?? []) as readonly PendingCall[])
  return { ...marked, status: statuses[event.status] ?? 'done', ...reason }
}

function appended(parts: readonly MessagePart[], type: 'text' | 'reasoning', delta: string): MessagePart[] {
  const last = parts.at(-1)
  if (last?.type === type) return [...parts.slice(0, -1), { type, text: last.text + delta }]
  return [...parts, { type, text: delta }]
}

type ToolChange = Pick<ToolPart, 'callId' | 'name' | 'state'> & { [Key in keyof ToolPart]?: ToolPart[Key] | undefined }

function withTool(message: ChatMessage, change: ToolChange): ChatMessage {
  const isSame = (part: MessagePart) => part.type === 'tool' && part.callId === change.callId
  const merge = (part?: ToolPart) => withoutUndefined({ type: 'tool', args: undefined, ...part, ...change })
  const { parts } = message
  if (!parts.some(isSame)) return { ...message, parts: [...parts, merge()] }
  return { ...message, parts: parts.map((part) => (isSame(part) ? merge(part as ToolPart) : part)) }
}

function withoutUndefined({ call, ...part }: ToolChange & { type: 'tool' }): ToolPart {
  return { ...part, ...(call !== undefined && { call }) } as ToolPart
}

function fileOf({ data, mediaType }: { data: unknown; mediaType: string }): MessagePart {
  const text = String(data)
  return { type: 'file', mediaType, url: /^[a-z][a-z0-9+.-]*:/i.test(text) ? text : `data:${mediaType};base64,${text}` }
}

function sourceOf({ url, title }: { url?: string; title?: string }): MessagePart {
  return { type: 'source', ...(url !== undefined && { url }), ...(title !== undefined && { title }) }
}
