import { fail } from '../http/problem.ts'

type Item = Record<string, unknown>

/**
 * The input of a client of Responses as messages of Chat Completions, which say the same: texts, calls that were handed back, and
 * their results.
 *
 * @throws AlliumError `request.invalid`
 */
export function messagesIn(input: unknown): object[] {
  if (typeof input === 'string' && input !== '') return [{ role: 'user', content: input }]
  if (!Array.isArray(input)) throw fail('request.invalid', 'The field `input` is a text or a list of items.')
  const messages: object[] = []
  let calls: object[] | undefined
  for (const item of input.map(itemOf)) {
    if (item.type !== 'function_call') {
      calls = undefined
      messages.push(...messageOf(item))
      continue
    }
    if (calls === undefined) {
      calls = []
      messages.push({ role: 'assistant', content: null, tool_calls: calls })
    }
    calls.push({ id: item.call_id, type: 'function', function: { name: item.name, arguments: item.arguments } })
  }
  return messages
}

/** A client that sends its history sends the reasoning that it was shown, too: that says nothing. */
function messageOf(item: Item): object[] {
  const { type = 'message', call_id: id, output } = item
  if (type === 'reasoning') return []
  if (type === 'message') return [item]
  if (type === 'function_call_output') return [{ role: 'tool', tool_call_id: id, content: output }]
  throw fail(
    'request.invalid',
    `An item of the type ${JSON.stringify(type)} is not taken from a client: it has messages, calls that were handed to it, and their results.`,
  )
}

function itemOf(value: unknown): Item {
  if (typeof value === 'object' && value !== null) return value as Item
  throw fail('request.invalid', 'An item of `input` is an object.')
}

/** @throws AlliumError `request.invalid` */
export function metadataOf({ metadata }: Record<string, unknown>): Readonly<Record<string, string>> {
  const given = Object.entries(metadata ?? {})
  if (given.length <= 16 && given.every(([name, text]) => name.length <= 64 && isShort(text)))
    return Object.fromEntries(given)
  throw fail('request.invalid', 'The field `metadata` has up to 16 texts of up to 512 characters.')
}

function isShort(text: unknown): boolean {
  return typeof text === 'string' && text.length <= 512
}
