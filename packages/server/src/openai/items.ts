import type { ClientCall } from '../approvals/client-calls.ts'
import { list, openObject, textOr, variants } from '../request/containers.ts'
import { maxMessages } from '../request/content.ts'
import { id } from '../request/fields.ts'
import { mapped, nullable, oneOf, type Schema, text } from '../request/schema.ts'
import { assistantText, type ChatMessage, callArguments, resultContent, userContent } from './messages.ts'

/** An item of Responses is a message by default. */
const type = nullable(oneOf('message'))

const message: Schema<ChatMessage> = variants('role', {
  system: openObject({ type, role: oneOf('system') }) as Schema<ChatMessage>,
  developer: openObject({ type, role: oneOf('developer') }) as Schema<ChatMessage>,
  user: openObject({ type, role: oneOf('user'), content: userContent }) as Schema<ChatMessage>,
  assistant: mapped(
    openObject({ type, role: oneOf('assistant'), content: assistantText }),
    ({ role, content }): ChatMessage => ({ role, text: content, calls: [] }),
  ),
})

const functionCall = mapped(
  openObject({
    type: oneOf('function_call'),
    call_id: text({ max: 1000 }),
    name: text({ max: 1000 }),
    arguments: callArguments,
  }),
  ({ call_id: callId, name, arguments: args }): { call: ClientCall } => ({ call: { id: callId, name, args } }),
)

const functionResult = mapped(
  openObject({ type: oneOf('function_call_output'), call_id: id, output: resultContent }),
  ({ call_id: callId, output }): ChatMessage => ({ role: 'tool', id: callId, text: output }),
)

/** Reasoning that a client received and sends back with its history. It is ignored. */
const reasoning = mapped(openObject({ type: oneOf('reasoning') }), () => 'nothing' as const)

const item = variants('type', { function_call: functionCall, function_call_output: functionResult, reasoning }, message)

/**
 * The input of Responses as messages of Chat Completions, which can express the same: texts, calls that were sent to the client, and
 * their results. Consecutive calls become one message.
 */
export const responseInput: Schema<readonly ChatMessage[]> = mapped(
  textOr(text({ min: 1 }), list(item, { max: maxMessages })),
  (input) => (typeof input === 'string' ? [{ role: 'user', content: input }] : messagesOf(input)),
)

function messagesOf(items: readonly ReturnType<typeof item.parse>[]): ChatMessage[] {
  const messages: ChatMessage[] = []
  let calls: ClientCall[] | undefined
  for (const one of items) {
    if (one === 'nothing') {
      calls = undefined
    } else if ('call' in one) {
      if (calls === undefined) {
        calls = []
        messages.push({ role: 'assistant', text: '', calls })
      }
      calls.push(one.call)
    } else {
      calls = undefined
      messages.push(one)
    }
  }
  return messages
}
