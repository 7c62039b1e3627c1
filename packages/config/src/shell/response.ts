import { AlliumError, type Message, type ToolDef } from '@allium/core'
import { z } from 'zod'
import { messageList, tool } from '../adapter/sendable.ts'
import { requestFields } from './request.ts'

const schema = z.looseObject({
  stop: z.union([z.boolean(), z.string()]).nullish(),
  deny: z.string().nullish(),
  context: z
    .looseObject({
      messages: messageList.nullish(),
      request: z.looseObject({ messages: messageList.nullish(), tools: z.array(tool).nullish() }).nullish(),
      result: z.looseObject({ content: z.string().optional(), isError: z.boolean().optional() }).nullish(),
    })
    .nullish(),
})

/** The response of a shell hook. */
export interface ShellResponse {
  stop?: boolean | string | null
  deny?: string | null
  context?: {
    messages?: Message[] | null
    request?: { messages?: Message[] | null; tools?: (Pick<ToolDef, 'name'> & Partial<ToolDef>)[] | null } | null
    result?: { content?: string; isError?: boolean } | null
  } | null
}

/** Parses a program's stdout as a response. Empty output requests nothing. @throws AlliumError `shell.output` */
export function parseResponse(stdout: string, command: string): ShellResponse {
  const text = stdout.trim() // also removes a byte order mark
  if (text === '') return {}
  const parsed = schema.safeParse(parseJson(text, command))
  if (parsed.success) return parsed.data as unknown as ShellResponse
  const { path, message } = parsed.error.issues[0] as z.core.$ZodIssue
  const location = path.length === 0 ? 'its answer' : path.join('.')
  throw invalidResponse(command, `${location} does not fit: ${message}`)
}

/** Returns the unknown fields of a response; fields of the request may be returned unchanged. */
export function unread(response: ShellResponse): string[] {
  const { context } = response
  return [
    ...rejectUnknownFields(response, '', ['stop', 'deny', 'context', ...requestFields]),
    ...rejectUnknownFields(context, 'context.', ['messages', 'request', 'result']),
    ...rejectUnknownFields(context?.request, 'context.request.', ['messages', 'tools']),
    ...rejectUnknownFields(context?.result, 'context.result.', ['content', 'isError']),
  ]
}

function rejectUnknownFields(given: object | null | undefined, place: string, known: readonly string[]): string[] {
  return Object.keys(given ?? {}).flatMap((key) => (known.includes(key) ? [] : [place + key]))
}

function parseJson(text: string, command: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw invalidResponse(command, 'that is not one JSON document', cause)
  }
}

function invalidResponse(command: string, what: string, cause?: unknown): AlliumError {
  return new AlliumError(
    'shell.output',
    `The program "${command}" wrote to stdout, but ${what}. It answers with one JSON object such as {"stop": true}, or nothing.`,
    { cause },
  )
}
