import { resolve } from 'node:path'
import type { Packs } from '@allium/config'
import { AlliumError } from '@allium/core'
import * as observe from '@allium/observe'
import type { MetricsOptions, TraceOptions } from '@allium/observe/otel'
import type { PinoLogOptions } from '@allium/observe/pino'
import { z } from 'zod'
import { as, count, ms, names, prices, text } from './values.ts'

const conventions = z.enum(['latest', '1.45'])

export const observePacks: Packs = {
  'observe.console': {
    create: observe.console,
    options: z.strictObject({ maxLength: count.optional(), as }),
  },
  'observe.duration': { create: observe.duration, options: z.strictObject({ as }) },
  'observe.log': {
    create: async (options: PinoLogOptions) => (await pinoLog()).log(options),
    options: z.strictObject({
      level: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal']).optional(),
      destination: z.enum(['stdout', 'stderr']).optional(),
      content: z.boolean().optional(),
      hide: names.optional(),
      maxLength: count.optional(),
      as,
    }),
  },
  'observe.metrics': {
    create: async (options: MetricsOptions) => (await openTelemetry()).metrics(options),
    options: z.strictObject({ names: conventions.optional(), as }),
  },
  'observe.onion': { create: observe.onion, options: z.strictObject({ maxTurns: count.optional(), as }) },
  'observe.tools': { create: observe.tools, options: z.strictObject({ as }) },
  'observe.trace': {
    create: async (options: TraceOptions) => (await openTelemetry()).trace(options),
    options: z.strictObject({
      content: z.boolean().optional(),
      toolDefinitions: z.boolean().optional(),
      identity: z.boolean().optional(),
      cost: z
        .union([z.boolean(), z.strictObject({ prices: prices.optional(), attribute: text.optional() })])
        .optional(),
      names: conventions.optional(),
      as,
    }),
  },
  'observe.usage': {
    create: observe.usage,
    options: z.strictObject({ prices: prices.optional(), record: z.boolean().optional(), as }),
  },
}

/** Writes a file to the path in the config. */
export const observeServerPacks: Packs = {
  'observe.audit': {
    create: ({ sink, ...options }: Omit<observe.AuditOptions, 'sink'> & { sink: string }, { root }) =>
      observe.audit({ ...options, sink: observe.auditFile(resolve(root, sink)) }),
    options: z.strictObject({
      sink: text,
      content: z.boolean().optional(),
      secret: text.optional(),
      onError: z.enum(['block', 'allow']).optional(),
      timeout: ms.optional(),
      as,
    }),
  },
}

// Their libraries are optional.
const pinoLog = () => importOptional('pino', import('@allium/observe/pino'))
const openTelemetry = () => importOptional('@opentelemetry/api', import('@allium/observe/otel'))

async function importOptional<T>(library: string, loading: Promise<T>): Promise<T> {
  try {
    return await loading
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new AlliumError('config.unsupported', `it needs ${library}. Install it: npm install ${library}`, { cause })
  }
}
