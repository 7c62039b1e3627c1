import { outputSchema } from '../request/client-schemas.ts'
import { openObject, variants } from '../request/containers.ts'
import { flag, mapped, nullable, oneOf, type Schema, text } from '../request/schema.ts'
import { rejection } from '../request/value-location.ts'
import type { OutputJsonSchema } from '../run/run-request.ts'

/** The answer format that a client of OpenAI's API requests. The response repeats it. */
export interface OutputFormat {
  readonly type: 'json_schema'
  readonly name: string
  readonly description: string | null
  readonly schema: OutputJsonSchema
  readonly strict: boolean
}

const formatFields = {
  name: text({ min: 1, max: 256 }),
  description: nullable(text({ max: 10_000 })),
  schema: outputSchema,
  strict: nullable(flag()),
}
type FormatFields = ReturnType<ReturnType<typeof openObject<typeof formatFields>>['parse']>

/** `response_format` of Chat Completions. */
export const chatFormat = nullableFormat(
  mapped(openObject({ type: oneOf('json_schema'), json_schema: openObject(formatFields) }), ({ json_schema }) =>
    formatOf(json_schema),
  ),
)

/** `text.format` of Responses. */
export const responseFormat = nullableFormat(
  mapped(openObject({ type: oneOf('json_schema'), ...formatFields }), formatOf),
)

/** Returns undefined for text. */
function nullableFormat(schema: Schema<OutputFormat>): Schema<OutputFormat | undefined> & { readonly optional: true } {
  const plain = mapped(openObject({ type: oneOf('text') }), () => undefined)
  const json = mapped(openObject({ type: oneOf('json_object') }), (_, location): undefined => {
    throw rejection(location, 'asks for JSON without a schema. Send a schema, with the type "json_schema".')
  })
  return nullable(variants('type', { text: plain, json_schema: schema, json_object: json }))
}

function formatOf({ name, description, schema, strict = false }: FormatFields): OutputFormat {
  return { type: 'json_schema', name, description: description ?? null, schema, strict }
}
