import { AlliumError } from '../errors/allium-error.ts'
import { describe } from '../errors/describe.ts'
import { checkInput, checkMessage } from './check-messages.ts'
import { copyMessage } from './json.ts'
import type { Input, Message } from './message.ts'

/** Returns the messages of an input, as copies that the run owns. */
export function toMessages(input: Input): Message[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }]
  const list: unknown = Array.isArray(input) ? input : [input]
  const messages = list as Message[]
  if (messages.length === 0 || messages[0] === undefined)
    throw new AlliumError(
      'message.invalid',
      `The input of a run must be a string, a message or a list of messages, not ${describe(input)}.`,
    )
  for (const [i, message] of messages.entries()) checkMessage(message, `input[${i}]`)
  checkInput(messages)
  return messages.map(copyMessage)
}
