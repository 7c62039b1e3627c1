import type { Packs } from '@allium/config'
import * as observe from '@allium/observe'
import { z } from 'zod'
import { as, count, prices } from './values.ts'

export const observePacks: Packs = {
  'observe.console': {
    create: observe.console,
    options: z.strictObject({ maxLength: count.optional(), as }),
  },
  'observe.duration': { create: observe.duration, options: z.strictObject({ as }) },
  'observe.tools': { create: observe.tools, options: z.strictObject({ as }) },
  'observe.usage': { create: observe.usage, options: z.strictObject({ prices: prices.optional(), as }) },
}
