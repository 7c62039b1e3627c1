import type { Packs } from '@allium/config'
import * as memory from '@allium/memory'
import { z } from 'zod'
import { as, count } from './values.ts'

/** What keeps a conversation within its room. */
export const contextPacks: Packs = {
  'memory.truncate': {
    create: memory.truncate,
    options: z.strictObject({ messages: count.optional(), tokens: count.optional(), as }),
  },
}
