import type { Packs } from '@allium/config'
import type { JsonSchema } from '@allium/core'
import * as model from '@allium/model'
import { z } from 'zod'
import { standardSchema } from '../standard-schema.ts'
import { as, count, ms, names } from './values.ts'

const afterOutput = z.enum(['reset', 'fail']).optional()

const threshold = z.union([count, z.strictObject({ share: z.number().gt(0).lt(1), of: count })])

const settings = z.strictObject({
  temperature: z.number().min(0).optional(),
  topP: z.number().min(0).max(1).optional(),
  maxOutputTokens: count.optional(),
  stop: z.array(z.string()).optional(),
  seed: z.int().optional(),
  reasoning: z.enum(['low', 'medium', 'high']).optional(),
  providerOptions: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
  headers: z.record(z.string(), z.string()).optional(),
})

export const modelPacks: Packs = {
  'model.breaker': {
    create: model.breaker,
    options: z.strictObject({
      threshold: threshold.optional(),
      halfOpenAfter: ms.optional(),
      per: z.enum(['model', 'tenant']).optional(),
      as,
    }),
  },
  'model.cache': {
    create: model.cache,
    options: z.strictObject({ ttl: ms.optional(), per: z.enum(['tenant', 'user', 'session']).optional(), as }),
  },
  'model.fallback': { create: model.fallback, options: z.strictObject({ models: names.min(1), afterOutput, as }) },
  'model.promptCache': {
    create: model.promptCache,
    options: z.strictObject({
      ttl: z.enum(['5m', '1h']).optional(),
      apply: z
        .array(z.enum(['system', 'messages']))
        .min(1)
        .optional(),
      minTokens: z.int().min(0).optional(),
      as,
    }),
  },
  'model.retry': {
    create: model.retry,
    options: z.strictObject({
      attempts: count.optional(),
      delay: z.number().min(0).optional(),
      maxDelay: z.number().min(0).optional(),
      jitter: z.number().min(0).max(1).optional(),
      afterOutput,
      as,
    }),
  },
  'model.selectTools': { create: model.selectTools, options: z.strictObject({ tools: names, as }) },
  'model.structured': {
    create: ({ schema, ...options }: Omit<model.StructuredOptions, 'schema'> & { schema: JsonSchema }) =>
      model.structured({ ...options, jsonSchema: schema, schema: standardSchema(schema) }),
    options: z.strictObject({
      schema: z.record(z.string(), z.unknown()),
      format: z.enum(['json', 'text']).optional(),
      attempts: count.optional(),
      show: z.enum(['early', 'checked']).optional(),
      as,
    }),
  },
  'model.settings': {
    create: model.settings,
    options: z.strictObject({ defaults: settings.optional(), overrides: settings.optional(), as }),
  },
}
