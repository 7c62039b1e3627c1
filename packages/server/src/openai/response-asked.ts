import type { Input, Message } from '@allium/core'
import { fail } from '../http/problem.ts'
import { messageOf } from './asked.ts'

/**
 * What a client of Responses says: its texts and those that it was answered; behind a response that the server has, what the
 * user says since.
 *
 * @throws AlliumError `request.invalid`
 */
export function responseInput(input: unknown, goesOn: boolean): Input {
  if (typeof input === 'string' && input !== '') return input
  if (!Array.isArray(input)) throw fail('request.invalid', 'The field `input` is a text or a list of items.')
  const said = input.flatMap(itemOf)
  if (said.at(-1)?.role !== 'user') throw fail('request.invalid', 'The last item of `input` is to be one of the user.')
  return goesOn ? said.slice(said.findLastIndex(({ role }) => role !== 'user') + 1) : said
}

/** A client that sends its history sends the reasoning that it was shown, too: that says nothing. */
function itemOf(value: unknown): Message[] {
  const { type = 'message' } = (value ?? {}) as { type?: unknown }
  if (type === 'reasoning') return []
  if (type === 'message') return messageOf(value)
  throw fail(
    'request.invalid',
    `An item of the type ${JSON.stringify(type)} is not taken from a client: it has messages, and tools run here.`,
  )
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
