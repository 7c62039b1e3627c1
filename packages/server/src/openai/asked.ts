import type { Input, Message } from '@allium/core'
import { fail } from '../http/problem.ts'
import { resultMessage } from './handed-back.ts'
import type { ChatMessage, GivenCall } from './messages.ts'

/** In a session of the client's choosing its newest message counts. @throws AlliumError `request.invalid` where that is none of a user */
export function chatInput(messages: readonly ChatMessage[]): Input {
  const last = messages.at(-1)
  if (last?.role === 'user') return userMessage(last)
  throw endsElsewhere('messages')
}

/** Checks that calls were handed to this client, as they are. @throws AlliumError `approval.forged` */
export type CheckCalls = (calls: readonly GivenCall[]) => Promise<Calls>
type Calls = ReadonlyMap<string, { name: string; args: Record<string, unknown> }>

/**
 * The whole history of a client that has no session; the results of calls that were handed to it are among it. Its system and
 * developer messages are the agent's business and are passed over.
 */
export async function chatHistory(
  messages: readonly ChatMessage[],
  check: CheckCalls,
  field = 'messages',
): Promise<Message[]> {
  const said: Message[] = []
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at] as ChatMessage
    if (message.role === 'tool') throw fail('request.invalid', misplaced, { field })
    if (message.role === 'user') said.push(userMessage(message))
    if (message.role !== 'assistant') continue
    const text = message.text === '' ? [] : [{ type: 'text' as const, text: message.text }]
    if (message.calls.length === 0) {
      if (text.length > 0) said.push({ role: 'assistant', content: message.text })
      continue
    }
    const calls = await check(message.calls)
    const results = resultsAt(messages, at + 1)
    const parts = [...calls].map(([callId, call]) => ({ type: 'tool-call' as const, callId, ...call }))
    said.push({ role: 'assistant', content: [...text, ...parts] }, resultMessage(calls, results))
    at += results.length
  }
  const last = said.at(-1)?.role
  if (last === 'user' || last === 'tool') return said
  throw endsElsewhere(field)
}

/** The messages of the role tool that stand there. */
export function resultsAt(messages: readonly ChatMessage[], from: number): { id: string; text: string }[] {
  const results: { id: string; text: string }[] = []
  for (let at = from; at < messages.length; at++) {
    const message = messages[at]
    if (message?.role !== 'tool') break
    results.push({ id: message.id, text: message.text })
  }
  return results
}

function userMessage({ role, content }: Extract<ChatMessage, { role: 'user' }>): Message {
  return { role, content: typeof content === 'string' ? content : [...content] }
}

const misplaced = 'Results of tools are taken for calls that were handed to this client, right behind those calls.'

function endsElsewhere(field: string) {
  const what = `The last of \`${field}\` must be a message of the user, or the results of calls.`
  return fail('request.invalid', what, { field })
}
