import type { OutputOption } from '@allium/core'

/**
 * A JSON Schema as what a run takes: the provider, or the tool that the model answers with, keeps to it, and `output` is what
 * was parsed.
 */
export function jsonOutput(schema: Readonly<Record<string, unknown>>): OutputOption {
  return {
    '~standard': {
      version: 1,
      vendor: 'json-schema',
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: () => schema, output: () => schema },
    },
  } as OutputOption
}
