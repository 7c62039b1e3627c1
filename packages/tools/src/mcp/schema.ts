import { isAlliumError, type JsonSchema, type Logger } from '@allium/core'
import type { UntrustedSchema } from '@allium/core/internal'

/** Reads a server's schema without running it as code. Logs once which parts are not checked. @throws AlliumError `schema.limits` */
export async function serverSchema(schema: JsonSchema, subject: string, logger: Logger): Promise<UntrustedSchema> {
  const { untrustedSchema } = await import('@allium/shared/json-schema')
  const read = await untrustedSchema(schema)
  const { unchecked } = read
  if (unchecked.length === 0) return read
  const suffix = unchecked.length > 5 ? `, and ${unchecked.length - 5} more` : ''
  logger.warn(
    `${subject} is checked in part. The model reads these parts, too: ${unchecked.slice(0, 5).join('; ')}${suffix}.`,
  )
  return read
}

/** Like `serverSchema`, for a schema that is not essential: one that is too large checks nothing, which is logged. */
export async function optionalSchema(
  schema: JsonSchema,
  subject: string,
  logger: Logger,
): Promise<UntrustedSchema | undefined> {
  try {
    return await serverSchema(schema, subject, logger)
  } catch (error) {
    if (!isAlliumError(error, 'schema.limits')) throw error
    logger.warn(`${subject} is not checked. ${error.message}`)
    return undefined
  }
}

/** Returns how a value violates a schema, in one line; undefined if it is valid. */
export async function violation(schema: UntrustedSchema, value: unknown): Promise<string | undefined> {
  const { issues } = await schema['~standard'].validate(value)
  const [first] = issues ?? []
  if (first === undefined) return undefined
  const { path = [], message } = first
  return path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`
}

/** Replaces the SDK's validator, which would run a server's schema as code with ajv. Its results are not used, because Allium validates. */
export const jsonSchemaValidator = {
  getValidator: () => (data: unknown) => ({ valid: true as const, data: data as never, errorMessage: undefined }),
}
