import type { ToolDef } from '@allium/core'
import { list, object } from './containers.ts'
import { anyObject, mapped, type Schema, text } from './schema.ts'
import { childLocation, type ValueLocation, violation } from './value-location.ts'

/** Most tools that a client may send. OpenAI accepts as many. */
const maxTools = 128

/** A tool that the client runs, for all protocols. */
export const clientTool: Schema<ToolDef> = object({
  name: text({
    pattern: /^[\w-]{1,64}$/,
    expected: 'a name of 1 to 64 letters, digits, _ and -',
    json: { pattern: '^[A-Za-z0-9_-]{1,64}$' },
  }),
  description: text({ max: 10_000 }),
  jsonSchema: mapped(anyObject(), (schema, location) => {
    if (typeof schema.type !== 'string' || schema.type === 'object') return schema
    throw noObject(schema, location, 'the arguments of a tool are an object')
  }),
})

/** The client tools of a request, in the format of a protocol. Undefined if there are none. */
export function clientTools(tool: Schema<ToolDef>): Schema<readonly ToolDef[] | undefined> {
  return mapped(list(tool, { max: maxTools }), (tools) => (tools.length === 0 ? undefined : tools))
}

/** JSON Schema of an object that the answer must match. */
export const outputSchema: Schema<Readonly<Record<string, unknown>>> = mapped(
  anyObject({ required: ['type'], properties: { type: { const: 'object' } } }),
  (schema, location) => {
    if (schema.type === 'object') return schema
    throw noObject(schema, location, 'the answer is a JSON object')
  },
)

function noObject({ type }: { readonly type?: unknown }, location: ValueLocation, why: string): Error {
  return violation(childLocation(location, 'type'), `"object", because ${why}`, type)
}
