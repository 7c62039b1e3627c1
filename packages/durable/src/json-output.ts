import type { OutputOption } from '@allium/core'
import { untrustedSchema } from '@allium/json-schema'

/**
 * Returns a JSON Schema that a client sent as the `output` option of a run. The answer is checked against it in a bounded
 * number of steps.
 *
 * @throws AlliumError `schema.limits`
 */
export function jsonOutput(schema: Readonly<Record<string, unknown>>): OutputOption {
  return untrustedSchema(schema)
}
