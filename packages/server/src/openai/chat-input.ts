import type { Input, Message } from '@allium/core'
import type { ClientCall } from '../approvals/client-calls.ts'
import { requestError } from '../http/problem.ts'
import { resultMessage } from './client-tool-calls.ts'
import type { ChatMessage } from './messages.ts'

/** Returns the newest message, for a session that the client chose. @throws AlliumError `request.invalid` if it is not a user message */
export function chatInput(messages: readonly ChatMessage[]): Input {
  const last = messages.at(-1)
  if (last?.role === 'user') return userMessage(last)
  throw lastMessageError('messages')
}

/** Checks that the calls were sent to this client with these arguments. @throws AlliumError `approval.forged` */
export type CheckCalls = (calls: readonly ClientCall[]) => Promise<VerifiedCalls>
type VerifiedCalls = ReadonlyMap<string, { name: string; args: Record<string, unknown> }>

/**
 * Returns the whole history of a client without a session, with the results of calls that were sent to it. Skips system and developer
 * messages, because the agent has its own instructions.
 */
export async function chatHistory(
  messages: readonly ChatMessage[],
  check: CheckCalls,
  field = 'messages',
): Promise<Message[]> {
  const history: Message[] = []
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index] as ChatMessage
    if (message.role === 'tool') throw requestError('request.invalid', misplacedResults, { field })
    if (message.role === 'user') history.push(userMessage(message))
    if (message.role !== 'assistant') continue
    const text = message.text === '' ? [] : [{ type: 'text' as const, text: message.text }]
    if (message.calls.length === 0) {
      if (text.length > 0) history.push({ role: 'assistant', content: message.text })
      continue
    }
    const calls = await check(message.calls)
    const results = resultsAt(messages, index + 1)
    const parts = [...calls].map(([callId, call]) => ({ type: 'tool-call' as const, callId, ...call }))
    history.push({ role: 'assistant', content: [...text, ...parts] }, resultMessage(calls, results))
    index += results.length
  }
  const last = history.at(-1)?.role
  if (last === 'user' || last === 'tool') return history
  throw lastMessageError(field)
}

/** Returns the consecutive messages of the role tool from an index on. */
export function resultsAt(messages: readonly ChatMessage[], from: number): { id: string; text: string }[] {
  const results: { id: string; text: string }[] = []
  for (let index = from; index < messages.length; index++) {
    const message = messages[index]
    if (message?.role !== 'tool') break
    results.push({ id: message.id, text: message.text })
  }
  return results
}

function userMessage({ role, content }: Extract<ChatMessage, { role: 'user' }>): Message {
  return { role, content: typeof content === 'string' ? content : [...content] }
}

const misplacedResults =
  'Tool results must directly follow their calls, and the calls must have been passed to this client.'

function lastMessageError(field: string) {
  const message = `The last entry of \`${field}\` must be a user message or a tool result.`
  return requestError('request.invalid', message, { field })
}
