import { AlliumError, type Message, type ToolDef } from '@allium/core'
import { z } from 'zod'

const parts = ['text', 'reasoning', 'image', 'file', 'custom', 'tool-call', 'tool-result'] as const
const message = z.looseObject({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.enum(parts) }))]),
})
/** The schema of messages from a hook. */
export const messageList = z.array(message)

/** The schema of a tool from a hook; missing fields are filled in. */
export const tool = z.looseObject({ name: z.string().min(1), description: z.string().default('') })
const toolList = z.array(z.looseObject({ name: z.string().min(1), description: z.string(), jsonSchema: z.unknown() }))
const thinking = z.enum(['low', 'medium', 'high']).optional()
const model = z.string().min(1)

/** Validates the messages that a hook returned. @throws AlliumError `config.hook` */
export function sendableMessages(value: unknown, location: string): Message[] {
  return validate(messageList, value, location) as Message[]
}

/** Returns an empty list if a hook removed the tools. */
export function sendableTools(value: unknown): ToolDef[] {
  return validate(toolList, value ?? [], 'ctx.request.tools') as ToolDef[]
}

export function sendableThinking(value: unknown): z.infer<typeof thinking> {
  return validate(thinking, value, 'ctx.request.thinking') as z.infer<typeof thinking>
}

export function sendableModel(value: unknown): string {
  return validate(model, value, 'ctx.request.model') as string
}

/** Validates an object that a hook assigned. */
export function copyOfData<T>(value: T, location: string): T {
  if (typeof value === 'object' && value !== null) return value
  throw violation(location, 'expected an object')
}

/** Returns the value itself, not a parsed copy. */
function validate(schema: z.ZodType, value: unknown, location: string): unknown {
  const issue = schema.safeParse(value).error?.issues[0]
  if (issue === undefined) return value
  throw violation([location, ...issue.path.map(String)].join('.'), issue.message)
}

function violation(location: string, problem: string): AlliumError {
  return new AlliumError(
    'config.hook',
    `${location} was changed to a value that cannot be sent: ${problem}. Fix the change, or keep the original value.`,
  )
}
