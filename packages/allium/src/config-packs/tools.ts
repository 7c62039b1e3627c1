import type { Packs } from '@allium/config'
import { type McpOptions, mcp, truncate } from '@allium/tools'
import { z } from 'zod'
import { as, count, ms, names } from './values.ts'

const layer = {
  name: z.string().min(1),
  prefix: z.string().optional(),
  include: names.optional(),
  exclude: names.optional(),
  requireApproval: z.union([z.boolean(), names]).optional(),
  timeout: ms.optional(),
  connectTimeout: ms.optional(),
  reconnect: z
    .strictObject({ attempts: z.int().min(0).optional(), delay: ms.optional(), maxDelay: ms.optional() })
    .optional(),
  as,
}
const stdio = z.strictObject({
  command: z.string().min(1),
  args: z.array(z.string()).optional(),
  env: z.union([names, z.record(z.string(), z.union([z.string(), z.literal(true)]))]).optional(),
  cwd: z.string().min(1).optional(),
  ...layer,
})
const http = z.strictObject({ url: z.string().min(1), headers: z.record(z.string(), z.string()).optional(), ...layer })

export const toolPacks: Packs = {
  'tools.truncate': {
    create: truncate,
    options: z.strictObject({
      maxChars: count.optional(),
      keep: z.enum(['start', 'end', 'both']).optional(),
      tools: names.optional(),
      as,
    }),
  },
}

/**
 * The pack behind `agent.mcp`. It starts programs and opens connections: `loadConfig` knows it for trusted configs alone.
 * Give it to a loader of your own, `createLoader({ packs: { ...packs, ...serverPacks } })`, only for configs that you trust.
 */
export const serverPacks: Packs = {
  'tools.mcp': { create: (options: McpOptions) => mcp(options), options: z.union([stdio, http]) },
}
