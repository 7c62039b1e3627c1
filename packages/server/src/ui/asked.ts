import type { Decision, FilePart, ImagePart, Input, TextPart } from '@allium/core'
import { fail } from '../http/problem.ts'
import { isBase64 } from '../native/input.ts'

/** What a page of the AI SDK asks: its newest message, or its decisions about calls. The rest of what it sends is not read. */
type UiAsked = { input: Input; decisions?: undefined } | { decisions: Record<string, Decision>; input?: undefined }

interface Body {
  id: string
  asked: UiAsked
}

/** @throws AlliumError `request.invalid` */
export function uiAsked({ id, messages, trigger }: Record<string, unknown>): Body {
  if (typeof id !== 'string' || !Array.isArray(messages) || messages.length === 0)
    throw fail('request.invalid', 'The body is that of a chat of the AI SDK: { id, messages }.')
  if (trigger === 'regenerate-message')
    throw fail(
      'request.invalid',
      "An answer cannot be asked for anew: the history is the server's. Ask again, or fork the session.",
    )
  const last = object(messages.at(-1))
  if (last.role === 'user') return { id, asked: { input: { role: 'user', content: list(last.parts).flatMap(partOf) } } }
  const decisions = Object.fromEntries(messages.flatMap((message) => list(object(message).parts)).flatMap(decisionOf))
  if (Object.keys(decisions).length > 0) return { id, asked: { decisions } }
  throw fail('request.invalid', 'The last message is one of the user, or has decisions about calls that wait.')
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

function object(value: unknown): Record<string, unknown> {
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  throw fail('request.invalid', 'A message of a chat is { role, parts }.')
}

function list(value: unknown): unknown[] {
  if (Array.isArray(value)) return value
  throw fail('request.invalid', 'A message of a chat is { role, parts }.')
}
