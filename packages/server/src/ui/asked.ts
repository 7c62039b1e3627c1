import type { Decision, FilePart, ImagePart, Input, TextPart, ToolDef } from '@allium/core'
import { fail } from '../http/problem.ts'
import { clientToolsOf } from '../native/client-tools.ts'
import { isBase64 } from '../native/input.ts'

/** What a page of the AI SDK asks: its newest message, or what it says of calls. The rest of what it sends is not read. */
type UiAsked = { input: Input; said?: undefined } | { said: UiSaid; input?: undefined }

/** Of calls: decisions about those that wait, and outputs of those that the page may have run. */
export interface UiSaid {
  decisions: Record<string, Decision>
  results: Record<string, Decision>
}

interface Body {
  id: string
  asked: UiAsked
  clientTools: readonly ToolDef[] | undefined
}

/** @throws AlliumError `request.invalid` */
export function uiAsked({ id, messages, trigger, clientTools: tools }: Record<string, unknown>): Body {
  if (typeof id !== 'string' || !Array.isArray(messages) || messages.length === 0)
    throw fail('request.invalid', 'The body is that of a chat of the AI SDK: { id, messages }.')
  if (trigger === 'regenerate-message')
    throw fail(
      'request.invalid',
      "An answer cannot be asked for anew: the history is the server's. Ask again, or fork the session.",
    )
  const last = object(messages.at(-1))
  const clientTools = clientToolsOf(tools)
  if (last.role === 'user')
    return { id, clientTools, asked: { input: { role: 'user', content: list(last.parts).flatMap(partOf) } } }
  const parts = messages.flatMap((message) => list(object(message).parts))
  const decisions = Object.fromEntries(parts.flatMap(decisionOf))
  const results = Object.fromEntries(parts.flatMap(resultOf))
  if (Object.keys({ ...decisions, ...results }).length > 0)
    return { id, clientTools, asked: { said: { decisions, results } } }
  throw fail('request.invalid', 'The last message is one of the user, or has decisions or outputs of calls that wait.')
}

function partOf(value: unknown): (TextPart | ImagePart | FilePart)[] {
  const { type, text, url, mediaType, filename } = object(value)
  if (type === 'text' && typeof text === 'string') return [{ type, text }]
  if (type !== 'file') throw fail('request.invalid', 'A message of a user has parts of the types text and file.')
  const [, data] = /^data:[^,]{0,200};base64,/.exec(String(url)) === null ? [] : String(url).split(',', 2)
  if (!isBase64(data) || typeof mediaType !== 'string')
    throw fail('request.invalid', 'A file comes as a data URL in base64: other URLs are not fetched.')
  if (mediaType.startsWith('image/')) return [{ type: 'image', data, mediaType }]
  return [{ type: 'file', data, mediaType, ...(typeof filename === 'string' && { filename }) }]
}

/** The id of an approval is the token of its call. */
function decisionOf(value: unknown): [string, Decision][] {
  const { state, toolCallId, approval } = object(value)
  if (state !== 'approval-responded' || typeof toolCallId !== 'string') return []
  const { id, approved, reason } = object(approval)
  if (typeof id !== 'string' || typeof approved !== 'boolean') return []
  if (approved) return [[toolCallId, { approve: true, token: id }]]
  return [[toolCallId, { deny: typeof reason === 'string' && reason !== '' ? reason : 'Denied.', token: id }]]
}

/** What a page says that came of a call: it counts for one that was handed to it. */
function resultOf(value: unknown): [string, Decision][] {
  const { state, toolCallId, output, errorText } = object(value)
  if (typeof toolCallId !== 'string') return []
  if (state === 'output-available') return [[toolCallId, { result: output ?? null }]]
  return state === 'output-error' ? [[toolCallId, { result: String(errorText), isError: true }]] : []
}

function object(value: unknown): Record<string, unknown> {
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  throw fail('request.invalid', 'A message of a chat is { role, parts }.')
}

function list(value: unknown): unknown[] {
  if (Array.isArray(value)) return value
  throw fail('request.invalid', 'A message of a chat is { role, parts }.')
}
