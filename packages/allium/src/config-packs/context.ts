import type { Packs } from '@allium/config'
import * as memory from '@allium/memory'
import * as tools from '@allium/tools'
import { z } from 'zod'
import { as, count, names } from './values.ts'

/** What keeps a conversation within its room. */
export const contextPacks: Packs = {
  'memory.truncate': {
    create: memory.truncate,
    options: z.strictObject({ messages: count.optional(), tokens: count.optional(), as }),
  },
  'tools.truncate': {
    create: tools.truncate,
    options: z.strictObject({
      maxChars: count.optional(),
      keep: z.enum(['start', 'end', 'both']).optional(),
      tools: names.optional(),
      as,
    }),
  },
}
