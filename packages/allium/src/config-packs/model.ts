import type { Packs } from '@allium/config'
import * as model from '@allium/model'
import { z } from 'zod'
import { as, count, ms, names } from './values.ts'

const midStream = z.enum(['reset', 'fail']).optional()

export const modelPacks: Packs = {
  'model.cache': {
    create: model.cache,
    options: z.strictObject({ ttl: ms.optional(), per: z.enum(['tenant', 'user', 'session']).optional(), as }),
  },
  'model.fallback': { create: model.fallback, options: z.strictObject({ models: names.min(1), midStream, as }) },
  'model.retry': {
    create: model.retry,
    options: z.strictObject({
      attempts: count.optional(),
      delay: z.number().min(0).optional(),
      maxDelay: z.number().min(0).optional(),
      jitter: z.number().min(0).max(1).optional(),
      midStream,
      as,
    }),
  },
}
