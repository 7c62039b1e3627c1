import type { Packs } from '@allium/config'
import * as guard from '@allium/guard'
import * as model from '@allium/model'
import * as observe from '@allium/observe'
import { z } from 'zod'

const as = z.string().min(1).optional()
const count = z.int().min(0)
const ms = z.number().positive()
const names = z.array(z.string().min(1))
const price = z.strictObject({
  input: z.number().min(0),
  output: z.number().min(0),
  cachedInput: z.number().min(0).optional(),
  cacheWrite: z.number().min(0).optional(),
})
const prices = z.record(z.string(), price)

/**
 * What a config may name under `agent.use`, and the options that fit in a file; those that are functions are for code.
 * Give `createLoader({ packs: { ...packs, 'own.layer': { create, options } } })` for more.
 */
export const packs: Packs = {
  'guard.approve': {
    create: guard.approve,
    options: z.strictObject({
      tools: names.optional(),
      reason: z.string().optional(),
      remember: z.boolean().optional(),
      expiresIn: ms.optional(),
      as,
    }),
  },
  'guard.budget': {
    create: guard.budget,
    options: z.strictObject({
      limit: z.number().min(0),
      unit: z.enum(['usd', 'tokens']).optional(),
      per: z.enum(['turn', 'session', 'user', 'tenant']).optional(),
      window: z.union([z.enum(['hour', 'day', 'month']), ms]).optional(),
      onLimit: z.enum(['block', 'stop', 'abort']).optional(),
      prices: prices.optional(),
      fallbackPrice: price.optional(),
      as,
    }),
  },
  'guard.maxModelCalls': {
    create: guard.maxModelCalls,
    options: z.strictObject({
      limit: count,
      per: z.enum(['turn', 'session']).optional(),
      onLimit: z.enum(['stop', 'block', 'abort']).optional(),
      as,
    }),
  },
  'guard.maxToolCalls': {
    create: guard.maxToolCalls,
    options: z.strictObject({
      limit: count,
      tools: names.optional(),
      per: z.enum(['turn', 'session']).optional(),
      onLimit: z.enum(['deny', 'stop', 'block', 'abort']).optional(),
      as,
    }),
  },
  'guard.policy': {
    create: guard.policy,
    options: z.strictObject({
      allow: names.optional(),
      deny: names.optional(),
      rules: z
        .array(
          z.strictObject({
            tool: z.string().min(1),
            roles: names.optional(),
            args: z.record(z.string(), z.array(z.unknown())).optional(),
            reason: z.string().optional(),
          }),
        )
        .optional(),
      as,
    }),
  },
  'guard.timeout': {
    create: guard.timeout,
    options: z.strictObject({ turn: ms.optional(), model: ms.optional(), tool: ms.optional(), as }),
  },
  'model.fallback': {
    create: model.fallback,
    options: z.strictObject({ models: names.min(1), midStream: z.enum(['reset', 'fail']).optional(), as }),
  },
  'model.retry': {
    create: model.retry,
    options: z.strictObject({
      attempts: z.int().min(1).optional(),
      delay: z.number().min(0).optional(),
      maxDelay: z.number().min(0).optional(),
      jitter: z.number().min(0).max(1).optional(),
      midStream: z.enum(['reset', 'fail']).optional(),
      as,
    }),
  },
  'observe.console': {
    create: observe.console,
    options: z.strictObject({ maxLength: z.int().min(1).optional(), as }),
  },
  'observe.duration': { create: observe.duration, options: z.strictObject({ as }) },
  'observe.tools': { create: observe.tools, options: z.strictObject({ as }) },
  'observe.usage': { create: observe.usage, options: z.strictObject({ prices: prices.optional(), as }) },
}
