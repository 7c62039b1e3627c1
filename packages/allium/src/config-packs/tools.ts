import type { Packs } from '@allium/config'
import { cache, type EmulateOptions, emulate, http, type McpOptions, mcp, retry, truncate } from '@allium/tools'
import { z } from 'zod'
import { namedModel } from './named-model.ts'
import { observeServerPacks } from './observe.ts'
import { as, count, ms, names, text } from './values.ts'

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
/** The requests that a server may make during a call. */
const serverRequestOptions = {
  elicitation: z.union([z.boolean(), z.strictObject({ expiresIn: ms.optional() })]).optional(),
  sampling: z
    .union([
      z.boolean(),
      z.strictObject({
        model: z.string().min(1).optional(),
        maxOutputTokens: count.optional(),
        perCall: count.optional(),
      }),
    ])
    .optional(),
}
const headers = z.record(z.string(), z.string())
const stdio = z.strictObject({
  command: z.string().min(1),
  args: z.array(z.string()).optional(),
  env: z.union([names, z.record(z.string(), z.union([z.string(), z.literal(true)]))]).optional(),
  cwd: z.string().min(1).optional(),
  ...serverRequestOptions,
  ...layer,
})
const streamable = z.strictObject({
  url: z.string().min(1),
  headers: headers.optional(),
  perPrincipal: z.boolean().optional(),
  listWith: z.strictObject({ headers }).optional(),
  maxConnections: count.optional(),
  ...serverRequestOptions,
  ...layer,
})

export const toolPacks: Packs = {
  'tools.cache': {
    create: cache,
    options: z.strictObject({
      tools: names.min(1),
      ttl: ms.optional(),
      per: z.enum(['tenant', 'user', 'session']).optional(),
      as,
    }),
  },
  'tools.emulate': {
    create: ({ model, ...options }: Omit<EmulateOptions, 'model'> & { model: string }) =>
      emulate({ ...options, model: namedModel(model) }),
    options: z.strictObject({ model: text, tools: names.optional(), instructions: text.optional(), as }),
  },
  'tools.retry': {
    create: retry,
    options: z.strictObject({
      tools: names.min(1),
      attempts: count.optional(),
      delay: z.number().min(0).optional(),
      maxDelay: z.number().min(0).optional(),
      jitter: z.number().min(0).max(1).optional(),
      as,
    }),
  },
  'tools.truncate': {
    create: truncate,
    options: z.strictObject({
      maxLength: count.optional(),
      side: z.enum(['start', 'end', 'both']).optional(),
      tools: names.optional(),
      as,
    }),
  },
}

/**
 * The packs for `agent.mcp`, HTTP requests and audit files. They start programs, open connections (inside your network, too) and
 * write files, so `loadConfig` only accepts them in trusted configs. The same applies to your own loader:
 * `createLoader({ packs: { ...packs, ...serverPacks } })`.
 */
export const serverPacks: Packs = {
  ...observeServerPacks,
  'tools.http': {
    create: http,
    options: z.strictObject({
      hosts: names,
      allowPrivate: names.optional(),
      methods: z
        .array(z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']))
        .min(1)
        .optional(),
      headers: z.record(z.string(), z.record(z.string(), z.string())).optional(),
      requestHeaders: names.optional(),
      files: names.optional(),
      maxBytes: count.optional(),
      maxRedirects: z.int().min(0).optional(),
      timeout: ms.optional(),
      name: z.string().min(1).optional(),
      description: z.string().min(1).optional(),
      requireApproval: z.boolean().optional(),
      as,
    }),
  },
  'tools.mcp': { create: (options: McpOptions) => mcp(options), options: z.union([stdio, streamable]) },
}
