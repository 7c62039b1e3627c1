import type { Packs } from '@allium/config'
import * as memory from '@allium/memory'
import { z } from 'zod'
import { as, count, ms, names } from './values.ts'

export const memoryPacks: Packs = {
  'memory.compact': {
    create: memory.compact,
    options: z.strictObject({
      strategy: z.enum(['clear', 'summarise', 'hybrid']).optional(),
      trigger: z
        .strictObject({
          tokens: count.optional(),
          messages: count.optional(),
          fraction: z.number().positive().max(1).optional(),
        })
        .optional(),
      contextWindow: count.optional(),
      keep: z.strictObject({ messages: count.optional(), tokens: count.optional() }).optional(),
      results: z
        .strictObject({
          keep: z.int().min(0).optional(),
          exclude: names.optional(),
          atLeast: z.number().min(0).optional(),
          marker: z.string().optional(),
        })
        .optional(),
      model: z.string().min(1).optional(),
      instructions: z.string().min(1).optional(),
      maxSummaryTokens: count.optional(),
      timeout: ms.optional(),
      as,
    }),
  },
  'memory.persist': {
    create: memory.persist,
    options: z.strictObject({ lease: ms.optional(), anonymous: z.boolean().optional(), as }),
  },
  'memory.plan': {
    create: memory.plan,
    options: z.strictObject({
      name: z.string().min(1).optional(),
      description: z.string().min(1).optional(),
      maxItems: count.optional(),
      maxLength: count.optional(),
      as,
    }),
  },
  'memory.truncate': {
    create: memory.truncate,
    options: z.strictObject({ maxMessages: count.optional(), maxTokens: count.optional(), as }),
  },
}
