import { AlliumError, type Message, type ToolDef } from '@allium/core'
import { z } from 'zod'

const parts = ['text', 'reasoning', 'image', 'file', 'custom', 'tool-call', 'tool-result'] as const
const message = z.looseObject({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.enum(parts) }))]),
})
/** Messages as a hook may give them. */
export const messageList = z.array(message)

/** A tool as a hook may give it: what it leaves out is filled in. */
export const tool = z.looseObject({ name: z.string().min(1), description: z.string().default('') })
const toolList = z.array(z.looseObject({ name: z.string().min(1), description: z.string(), jsonSchema: z.unknown() }))
const thinking = z.enum(['low', 'medium', 'high']).optional()
const model = z.string().min(1)

/** What a hook has left in the place of messages. @throws AlliumError `config.hook` */
export function sendableMessages(given: unknown, place: string): Message[] {
  return checked(messageList, given, place) as Message[]
}

/** None, where a hook takes them away. */
export function sendableTools(given: unknown): ToolDef[] {
  return checked(toolList, given ?? [], 'ctx.request.tools') as ToolDef[]
}

export function sendableThinking(given: unknown): z.infer<typeof thinking> {
  return checked(thinking, given, 'ctx.request.thinking') as z.infer<typeof thinking>
}

export function sendableModel(given: unknown): string {
  return checked(model, given, 'ctx.request.model') as string
}

/** What a hook has put in the place of an object. */
export function replaced<T>(given: T, place: string): T {
  if (typeof given === 'object' && given !== null) return given
  throw misfit(place, 'expected an object')
}

/** What was given, and no copy of it. */
function checked(schema: z.ZodType, given: unknown, place: string): unknown {
  const issue = schema.safeParse(given).error?.issues[0]
  if (issue === undefined) return given
  throw misfit([place, ...issue.path.map(String)].join('.'), issue.message)
}

function misfit(place: string, what: string): AlliumError {
  return new AlliumError(
    'config.hook',
    `${place} was changed to what nothing can be sent of: ${what}. Change the value that is there, or leave it.`,
  )
}
