import { outputSchema } from '../native/bodies.ts'
import { openObject, variants } from '../request/containers.ts'
import { refused } from '../request/place.ts'
import { flag, mapped, nullable, oneOf, type Schema, text } from '../request/schema.ts'
import type { AskedOutput } from '../run/asked-output.ts'

/** The form of an answer that a client of OpenAI's API asks for, as it has to be told again. */
export interface AskedFormat {
  readonly type: 'json_schema'
  readonly name: string
  readonly description: string | null
  readonly schema: AskedOutput
  readonly strict: boolean
}

const form = {
  name: text({ min: 1, max: 256 }),
  description: nullable(text({ max: 10_000 })),
  schema: outputSchema,
  strict: nullable(flag()),
}
type Form = ReturnType<ReturnType<typeof openObject<typeof form>>['parse']>

/** `response_format` of Chat Completions. */
export const chatFormat = formats(
  mapped(openObject({ type: oneOf('json_schema'), json_schema: openObject(form) }), ({ json_schema }) =>
    formatOf(json_schema),
  ),
)

/** `text.format` of Responses. */
export const responseFormat = formats(mapped(openObject({ type: oneOf('json_schema'), ...form }), formatOf))

/** Undefined for text. */
function formats(schema: Schema<AskedFormat>): Schema<AskedFormat | undefined> & { readonly optional: true } {
  const plain = mapped(openObject({ type: oneOf('text') }), () => undefined)
  const json = mapped(openObject({ type: oneOf('json_object') }), (_, place): undefined => {
    throw refused(place, 'asks for JSON without a schema. Give one: the type "json_schema".')
  })
  return nullable(variants('type', { text: plain, json_schema: schema, json_object: json }))
}

function formatOf({ name, description, schema, strict = false }: Form): AskedFormat {
  return { type: 'json_schema', name, description: description ?? null, schema, strict }
}
