import type { Packs } from '@allium/config'
import * as guard from '@allium/guard'
import { z } from 'zod'
import { namedModel } from './named-model.ts'
import { as, count, failure, fraction, ms, names, price, prices, text } from './values.ts'

const applyTo = z.array(z.enum(['input', 'output', 'toolResults'])).min(1)
const strategy = z.enum(['redact', 'mask', 'hash', 'block'])

const rate = z.strictObject({
  limit: z.number().positive(),
  window: z.union([z.enum(['second', 'minute', 'hour', 'day']), ms]).optional(),
  per: z.enum(['session', 'user', 'tenant', 'ip']).optional(),
})

export const guardPacks: Packs = {
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
      warnAt: z.number().min(0).max(1).optional(),
      prices: prices.optional(),
      fallbackPrice: price.optional(),
      lease: ms.optional(),
      as,
    }),
  },
  'guard.concurrency': {
    create: guard.concurrency,
    options: z.strictObject({
      limit: count,
      perTenant: count.optional(),
      scope: z.enum(['model', 'turn']).optional(),
      maxQueueSize: z.int().min(0).optional(),
      maxWait: ms.optional(),
      as,
    }),
  },
  'guard.content': {
    create: guard.content,
    options: z.strictObject({
      keywords: z.array(text).min(1),
      onFinding: z.enum(['block', 'redact']).optional(),
      replacement: z.string().optional(),
      apply: applyTo.optional(),
      ...failure,
      as,
    }),
  },
  'guard.files': {
    create: guard.files,
    options: z.strictObject({
      types: names.min(1).optional(),
      extensions: names.min(1).optional(),
      maxBytes: count.optional(),
      maxFiles: count.optional(),
      onUrl: z.enum(['block', 'allow']).optional(),
      root: z.string().min(1).optional(),
      pathArgs: z.record(z.string().min(1), names.min(1)).optional(),
      resolve: z.boolean().optional(),
      ...failure,
      as,
    }),
  },
  'guard.flow': {
    create: guard.flow,
    options: z.strictObject({
      onSink: z.enum(['ask', 'deny']).optional(),
      links: names.optional(),
      unlabelled: z.enum(['untrusted', 'trusted']).optional(),
      expiresIn: ms.optional(),
      as,
    }),
  },
  'guard.injection': {
    create: guard.injection,
    options: z.strictObject({
      threshold: fraction.optional(),
      onInput: z.enum(['block', 'pass']).optional(),
      onToolResult: z.enum(['mark', 'withhold', 'block']).optional(),
      trustedTools: names.optional(),
      privilegedTools: names.optional(),
      secret: text.optional(),
      ...failure,
      as,
    }),
  },
  'guard.judge': {
    create: ({ model, ...options }: Omit<guard.JudgeOptions, 'model'> & { model: string }) =>
      guard.judge({ ...options, model: namedModel(model) }),
    options: z.strictObject({
      model: text,
      rubric: text,
      apply: z
        .array(z.enum(['input', 'output']))
        .min(1)
        .optional(),
      threshold: fraction.optional(),
      ...failure,
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
  'guard.pii': {
    create: guard.pii,
    options: z.strictObject({
      types: z
        .array(z.enum(['email', 'phone', 'card', 'iban', 'ip', 'ssn', 'api_key']))
        .min(1)
        .optional(),
      onFinding: z.union([strategy, z.record(text, strategy)]).optional(),
      apply: applyTo.optional(),
      restore: names.optional(),
      allow: names.optional(),
      hashKey: text.optional(),
      ...failure,
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
  'guard.rateLimit': {
    create: guard.rateLimit,
    options: rate.partial().extend({
      rates: z.array(rate).optional(),
      scope: z.enum(['turn', 'model']).optional(),
      onLimit: z.enum(['block', 'wait']).optional(),
      maxWait: ms.optional(),
      onError: z.enum(['block', 'allow']).optional(),
      timeout: ms.optional(),
      as,
    }),
  },
  'guard.timeout': {
    create: guard.timeout,
    options: z.strictObject({
      turn: ms.optional(),
      model: ms.optional(),
      chunk: ms.optional(),
      firstChunk: ms.optional(),
      tool: ms.optional(),
      as,
    }),
  },
}
