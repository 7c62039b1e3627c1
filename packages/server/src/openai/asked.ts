import type { Input, Message } from '@allium/core'
import { fail } from '../http/problem.ts'
import { isBase64 } from '../native/input.ts'
import { type callsOf, resultMessage } from './handed-back.ts'

type Part = Exclude<Message['content'], string>[number]

/**
 * What a client of Chat Completions says: in a session of its own choosing its newest message, else its texts and those that
 * it was answered. Its system and developer messages are the agent's business and are passed over.
 *
 * @throws AlliumError `request.invalid`
 */
export function chatInput(messages: unknown): Input {
  if (!Array.isArray(messages)) throw fail('request.invalid', 'The field `messages` is a list of messages.')
  const last = object(messages.at(-1) ?? {}).role === 'user' ? messageOf(messages.at(-1)).at(-1) : undefined
  if (last !== undefined) return last
  throw fail('request.invalid', 'The last of `messages` is to be one of the user, or the results of calls.')
}

/** The whole history of a client that has no session; the results of calls that were handed to it are among it. */
export async function chatHistory(
  messages: unknown,
  callsIn: (calls: unknown) => Promise<Calls>,
  field = 'messages',
): Promise<Message[]> {
  if (!Array.isArray(messages)) throw fail('request.invalid', 'The field `messages` is a list of messages.')
  const said: Message[] = []
  for (let at = 0; at < messages.length; at++) {
    const { tool_calls: given, content } = object(messages[at])
    if (given === undefined || given === null || isEmpty(given)) {
      said.push(...messageOf(messages[at]))
      continue
    }
    const calls = await callsIn(given)
    const results = resultsAt(messages, at + 1)
    const text =
      content === null || content === undefined || content === ''
        ? []
        : [{ type: 'text' as const, text: textOf(content) }]
    const parts = [...calls].map(([callId, call]) => ({ type: 'tool-call' as const, callId, ...call }))
    said.push({ role: 'assistant', content: [...text, ...parts] }, resultMessage(calls, results))
    at += results.length
  }
  const last = said.at(-1)?.role
  if (last === 'user' || last === 'tool') return said
  throw fail('request.invalid', `The last of \`${field}\` is to be one of the user, or the results of calls.`)
}

type Calls = Awaited<ReturnType<typeof callsOf>>

/** The messages of the role tool that stand there. */
export function resultsAt(messages: readonly unknown[], from: number): { id: unknown; text: string }[] {
  const results: { id: unknown; text: string }[] = []
  for (let at = from; at < messages.length; at++) {
    const { role, tool_call_id: id, content } = object(messages[at])
    if (role !== 'tool') break
    results.push({ id, text: textOf(content) })
  }
  return results
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

/** A message of a client, or nothing where it is the agent's business. @throws AlliumError `request.invalid` */
function messageOf(value: unknown): Message[] {
  const { role, content, tool_calls: calls } = object(value)
  if (role === 'system' || role === 'developer') return []
  if (role === 'tool' || role === 'function' || (calls !== undefined && calls !== null && !isEmpty(calls)))
    throw fail(
      'request.invalid',
      'Results of tools are taken for calls that were handed to this client, behind those calls.',
    )
  if (role === 'assistant') return content === '' || content === null ? [] : [{ role, content: textOf(content) }]
  if (role === 'user') return [{ role, content: userContent(content) }]
  throw fail('request.invalid', 'A message has the role system, developer, user or assistant.')
}

/** The text of an answer, whole or in parts. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return list(content)
    .map((part) => {
      const { text } = object(part)
      if (typeof text === 'string') return text
      throw fail('request.invalid', 'A message of the assistant, or the result of a call, has texts.')
    })
    .join('')
}

/** Texts and images of a user, in the parts of Chat Completions and of Responses. */
function userContent(content: unknown): Message['content'] {
  return typeof content === 'string' ? content : list(content).map(partOf)
}

function partOf(value: unknown): Part {
  const { type, text, image_url: image } = object(value)
  if ((type === 'text' || type === 'input_text') && typeof text === 'string') return { type: 'text', text }
  if (type !== 'image_url' && type !== 'input_image')
    throw fail('request.invalid', 'A message of a user has texts and images.')
  const url = typeof image === 'object' && image !== null ? (image as { url?: unknown }).url : image
  const [, mediaType, data] = /^data:(image\/[\w.+-]+);base64,([^,]*)$/.exec(String(url).slice(0, 200)) ?? []
  const rest = data === undefined ? undefined : data + String(url).slice(200)
  if (mediaType === undefined || !isBase64(rest))
    throw fail('request.invalid', 'An image comes as a data URL in base64: other URLs are not fetched.')
  return { type: 'image', data: rest, mediaType }
}

/** Images come in the body. */
export const imageBody = 8 * 1_048_576

/** @throws AlliumError `request.invalid` */
export function modelOf({ model }: Record<string, unknown>): string {
  if (typeof model === 'string') return model
  throw fail('request.invalid', 'The field `model` names an agent. See /v1/models.')
}

function object(value: unknown): Record<string, unknown> {
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  throw fail('request.invalid', 'A message is { role, content }.')
}

function list(value: unknown): unknown[] {
  if (Array.isArray(value)) return value
  throw fail('request.invalid', 'The content of a message is a text or a list of parts.')
}
