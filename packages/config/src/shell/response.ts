import { AlliumError, type Message, type ToolDef } from '@allium/core'
import { z } from 'zod'

const parts = ['text', 'reasoning', 'image', 'file', 'custom', 'tool-call', 'tool-result'] as const
const message = z.looseObject({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.enum(parts) }))]),
})
const tool = z.looseObject({ name: z.string().min(1), description: z.string().default('') })
const schema = z.looseObject({
  stop: z.union([z.boolean(), z.string()]).nullish(),
  deny: z.string().nullish(),
  context: z
    .looseObject({
      messages: z.array(message).nullish(),
      request: z.looseObject({ messages: z.array(message).nullish(), tools: z.array(tool).nullish() }).nullish(),
      result: z.looseObject({ content: z.string().optional(), isError: z.boolean().optional() }).nullish(),
    })
    .nullish(),
})

/** What a shell hook asks for. */
export interface ShellResponse {
  stop?: boolean | string | null
  deny?: string | null
  context?: {
    messages?: Message[] | null
    request?: { messages?: Message[] | null; tools?: (Pick<ToolDef, 'name'> & Partial<ToolDef>)[] | null } | null
    result?: { content?: string; isError?: boolean } | null
  } | null
}

/** What a program wrote to stdout, as a response. Nothing is one that asks for nothing. @throws AlliumError `shell.output` */
export function parseResponse(stdout: string, command: string): ShellResponse {
  if (stdout.trim() === '') return {}
  const parsed = schema.safeParse(parseJson(stdout, command))
  if (parsed.success) return parsed.data as unknown as ShellResponse
  const { path, message } = parsed.error.issues[0] as z.core.$ZodIssue
  const where = path.length === 0 ? 'its answer' : path.join('.')
  throw bad(command, `${where} does not fit: ${message}`)
}

function parseJson(text: string, command: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw bad(command, 'that is not one JSON document', cause)
  }
}

function bad(command: string, what: string, cause?: unknown): AlliumError {
  return new AlliumError(
    'shell.output',
    `The program "${command}" wrote to stdout, but ${what}. It answers with one JSON object such as {"stop": true}, or nothing.`,
    { cause },
  )
}
