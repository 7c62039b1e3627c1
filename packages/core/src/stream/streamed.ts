import { cloneJson } from '../messages/json.ts'
import type { Message, Part } from '../messages/message.ts'
import type { ContentChunk } from '../model/chunk.ts'
import { type ModelResponse, ofProvider, responseMessage, sameCall, type ToolCall } from '../model/response.ts'
import type { Assembly } from './assembly.ts'

/** The content streamed so far at one place of the onion. It is a copy, so layers cannot change it. */
export interface Streamed {
  readonly text: string
  readonly reasoning: string
  calls(): readonly ToolCall[]
}

const noCalls = (): readonly ToolCall[] => []
export const nothingStreamed: Streamed = { text: '', reasoning: '', calls: noCalls }

export function streamedBy(assembly: Assembly): Streamed {
  const { text, reasoning = '' } = assembly
  if (!assembly.hasCalls) return { text, reasoning, calls: noCalls }
  let calls: readonly ToolCall[] | undefined
  return { text, reasoning, calls: () => (calls ??= assembly.toolCalls()) }
}

export function streamedAs(response: ModelResponse): Streamed {
  const calls = cloneJson(response.toolCalls)
  return { text: response.text, reasoning: reasoningOf(responseMessage(response)), calls: () => calls }
}

/**
 * Returns the response with a message that matches its `reasoning`, if a layer returned reasoning that differs from the
 * stream.
 */
export function withReasoning(response: ModelResponse, streamed: Streamed | undefined): ModelResponse {
  const { reasoning } = response
  if (reasoning === undefined || reasoning === streamed?.reasoning) return response
  const message = responseMessage(response)
  if (reasoningOf(message) === reasoning) return response
  const parts: readonly Part[] =
    typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content
  const others = parts.filter((part) => part.type !== 'reasoning' && !(part.type === 'text' && part.text === ''))
  const content: Part[] = reasoning === '' ? others : [{ type: 'reasoning', text: reasoning }, ...others]
  return { ...response, message: { ...message, content } }
}

/** Whether the text is equal, and the id, name and arguments of each call. */
export function hasSameContent(streamed: Streamed, { text, toolCalls }: ModelResponse): boolean {
  if (streamed.text !== text) return false
  const calls = streamed.calls()
  return calls.length === toolCalls.length && startsWithCalls(toolCalls, calls)
}

/** Whether the reasoning of a response equals the streamed reasoning. */
export function hasSameReasoning({ reasoning }: Streamed, response: ModelResponse): boolean {
  if (response.reasoning !== undefined && response.reasoning !== reasoning) return false
  if (reasoning === '' && typeof response.message.content === 'string') return true
  return reasoning === reasoningOf(responseMessage(response))
}

function reasoningOf({ content }: Message): string {
  if (typeof content === 'string') return ''
  let thoughts = ''
  for (const part of content) if (part.type === 'reasoning') thoughts += part.text
  return thoughts
}

/** Returns the chunks that complete the stream to the response, or undefined if the response drops streamed content. */
export function continuation(streamed: Streamed, response: ModelResponse): ContentChunk[] | undefined {
  const before = streamed.calls()
  if (!response.text.startsWith(streamed.text) || !startsWithCalls(response.toolCalls, before)) return undefined
  if (streamed === nothingStreamed) return wholeResponse(response)
  const chunks: ContentChunk[] = []
  if (response.text.length > streamed.text.length)
    chunks.push({ type: 'text-delta', delta: response.text.slice(streamed.text.length) })
  for (const call of response.toolCalls.slice(before.length)) chunks.push(...callChunks(call))
  return chunks
}

/** Returns a response as chunks, in the order of its message. */
export function wholeResponse(response: ModelResponse): ContentChunk[] {
  const { content } = responseMessage(response)
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text-delta', delta: content }]
  return content.flatMap((part, at): ContentChunk[] => {
    const extra = {
      id: String(at),
      ...(part.providerMetadata !== undefined && { providerMetadata: part.providerMetadata }),
    }
    if (part.type === 'text') return [{ type: 'text-delta', delta: part.text, ...extra }]
    if (part.type === 'reasoning') return [{ type: 'reasoning-delta', delta: part.text, ...extra }]
    if (part.type === 'tool-call') return callChunks(part, extra)
    return part.type === 'image' ? [] : [{ ...part, ...extra }]
  })
}

function callChunks(
  { callId, name, args, ...call }: ToolCall,
  { providerMetadata }: Pick<ContentChunk, 'providerMetadata'> = {},
): ContentChunk[] {
  return [
    { type: 'tool-input-start', callId, name, ...ofProvider({ ...call, providerMetadata }) },
    { type: 'tool-input-delta', callId, delta: JSON.stringify(args) },
    { type: 'tool-input-end', callId },
  ]
}

function startsWithCalls(calls: readonly ToolCall[], start: readonly ToolCall[]): boolean {
  return start.every((call, i) => sameCall(call, calls[i]))
}
