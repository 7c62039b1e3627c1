import { cloneJson } from '../messages/json.ts'
import type { ContentChunk } from '../model/chunk.ts'
import { type ModelResponse, responseMessage, sameCall, type ToolCall } from '../model/response.ts'
import type { Assembly } from './assembly.ts'

/** What has gone into the stream at one place of the onion, kept apart from the objects that layers may change. */
export interface Said {
  readonly text: string
  calls(): readonly ToolCall[]
}

const noCalls = (): readonly ToolCall[] => []
export const nothingSaid: Said = { text: '', calls: noCalls }

export function saidBy(assembly: Assembly): Said {
  if (!assembly.hasCalls) return { text: assembly.text, calls: noCalls }
  let calls: readonly ToolCall[] | undefined
  return { text: assembly.text, calls: () => (calls ??= assembly.toolCalls()) }
}

export function saidAs({ text, toolCalls }: ModelResponse): Said {
  const calls = cloneJson(toolCalls)
  return { text, calls: () => calls }
}

/** By value: the text, and the id, name and arguments of each call. */
export function saysSame(said: Said, { text, toolCalls }: ModelResponse): boolean {
  if (said.text !== text) return false
  const calls = said.calls()
  return calls.length === toolCalls.length && startsWithCalls(toolCalls, calls)
}

/** Whether a response has the thoughts that were streamed. */
export function thinksSame({ reasoning = '' }: Assembly, response: ModelResponse): boolean {
  const { content } = responseMessage(response)
  if (typeof content === 'string') return reasoning === ''
  return reasoning === content.map((part) => (part.type === 'reasoning' ? part.text : '')).join('')
}

/** The chunks that lead from what was said to the response, or undefined where it takes something back. */
export function continuation(said: Said, response: ModelResponse): ContentChunk[] | undefined {
  const before = said.calls()
  if (!response.text.startsWith(said.text) || !startsWithCalls(response.toolCalls, before)) return undefined
  if (said === nothingSaid) return wholeResponse(response)
  const chunks: ContentChunk[] = []
  if (response.text.length > said.text.length)
    chunks.push({ type: 'text-delta', delta: response.text.slice(said.text.length) })
  for (const call of response.toolCalls.slice(before.length)) chunks.push(...callChunks(call))
  return chunks
}

/** A response as the chunks that say it, in the order of its message. */
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
  { callId, name, args, providerExecuted }: ToolCall,
  { providerMetadata }: { providerMetadata?: ContentChunk['providerMetadata'] } = {},
): ContentChunk[] {
  return [
    {
      type: 'tool-input-start',
      callId,
      name,
      ...(providerExecuted === true && { providerExecuted }),
      ...(providerMetadata !== undefined && { providerMetadata }),
    },
    { type: 'tool-input-delta', callId, delta: JSON.stringify(args) },
    { type: 'tool-input-end', callId },
  ]
}

function startsWithCalls(calls: readonly ToolCall[], start: readonly ToolCall[]): boolean {
  return start.every((call, i) => sameCall(call, calls[i]))
}
