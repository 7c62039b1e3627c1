import type { ToolDef } from '@allium/core'
import { fail } from '../http/problem.ts'

/**
 * Tools that the client runs: their calls are handed back to it. Undefined for none.
 *
 * @throws AlliumError `request.invalid`
 */
export function clientToolsOf(value: unknown): readonly ToolDef[] | undefined {
  if (value === undefined || value === null) return undefined
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(toolOf)
  throw fail('request.invalid', `The field \`clientTools\` is a list of tools. ${form}`)
}

const form =
  'A tool has a name of up to 64 letters, digits, _ and -, a description, and the JSON Schema of its arguments.'

function toolOf(value: unknown, at: number): ToolDef {
  const { name, description, jsonSchema, ...more } = (value ?? {}) as Record<string, unknown>
  if (Object.keys(more).length === 0) return namedTool({ name, description, jsonSchema })
  throw fail('request.invalid', `The tool ${at} of \`clientTools\` is none. ${form}`)
}

/** A tool of a client, whichever way it is told. @throws AlliumError `request.invalid` */
export function namedTool({ name, description, jsonSchema }: Record<string, unknown>): ToolDef {
  const isNamed = typeof name === 'string' && /^[\w-]{1,64}$/.test(name) && typeof description === 'string'
  if (isNamed && isObject(jsonSchema)) return { name, description, jsonSchema }
  throw fail('request.invalid', `${JSON.stringify(name) ?? 'Something'} is no tool of a client. ${form}`)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
