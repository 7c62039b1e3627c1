import type { Middleware } from '@allium/core'
import { budget } from '@allium/guard'
import { usage } from '@allium/observe'
import type { Ledger } from '@allium/store'
import { judgesBeside, judgesInputs } from './judges.ts'

/** A tool call, `look` for that of the sub-agent, or the name of a `ctx.once()`, such as `fee 0`. */
export type Effect = string

/** What a build does is reported here. */
export interface Effects {
  /** An effect happens. */
  onEffect(effect: Effect): unknown
  /** The code comes to an effect, whether it runs or is replayed. */
  onAsk?(effect: Effect): void
}

export interface LayerSetup extends Effects {
  readonly ledger?: Ledger | undefined
}

export type Named = Middleware & { name: string }
type MakeLayer = (setup: LayerSetup) => Named

interface OnceContext {
  once(key: string, fn: () => unknown, options?: { per: 'attempt' | 'turn' }): unknown
}

/** Runs an effect once. Its key is its name, with a suffix in code that has renamed it. */
async function effect(ctx: OnceContext, { onEffect, onAsk }: Effects, name: Effect, options: OnceOptions = {}) {
  const { suffix = '', per = 'turn' } = options
  onAsk?.(name)
  await ctx.once(`${name}${suffix}`, async () => void (await onEffect(name)), { per })
}
interface OnceOptions {
  suffix?: string
  per?: 'attempt' | 'turn'
}

/** A layer around turns, model calls and tool calls. Two of a name have the same structure, whatever they do. */
const around = (name: string, hooks: Partial<Pick<Named, 'turn' | 'model' | 'tool'>> = {}): Named => ({
  name,
  turn: (_, next) => next(),
  model: (_, next) => next(),
  tool: (_, next) => next(),
  ...hooks,
})

const welcome =
  (options?: OnceOptions): MakeLayer =>
  (setup) =>
    around('welcome', {
      async turn(ctx, next) {
        await effect(ctx, setup, 'welcome', options)
        return next()
      },
    })
const receipt =
  (options?: OnceOptions): MakeLayer =>
  (setup) =>
    around('receipt', {
      async turn(ctx, next) {
        await next()
        await effect(ctx, setup, 'receipt', options)
      },
    })
const stamp =
  (options?: OnceOptions): MakeLayer =>
  (setup) =>
    around('stamp', {
      async tool(ctx, next) {
        await effect(ctx, setup, `stamp ${ctx.callId}`, options)
        return next()
      },
    })
const fee =
  (options?: OnceOptions): MakeLayer =>
  (setup) => ({
    name: 'fee',
    async model(ctx, next) {
      await effect(ctx, setup, `fee ${ctx.callIndex}`, { per: 'attempt', ...options })
      return next()
    },
  })

/** Layers that a build can have, by name. */
const layers: Readonly<Record<string, MakeLayer>> = {
  watch: () => ({ name: 'watch', tool: (_, next) => next(), model: (_, next) => next() }),
  watch2: () => ({ name: 'watch', options: { level: 2 }, tool: (_, next) => next(), model: (_, next) => next() }),
  seen: () => ({ name: 'seen', tool: (_, next) => next(), model: (_, next) => next() }),
  cap: ({ ledger }) => budget({ limit: 1e6, unit: 'tokens', ledger }) as Named,
  cap2: ({ ledger }) => budget({ limit: 2e6, unit: 'tokens', ledger }) as Named,
  'cap full': ({ ledger }) => budget({ limit: 1, unit: 'tokens', ledger }) as Named,
  usage: () => usage({ record: true, prices: {} }) as Named,
  fee: fee(),
  'fee renamed': fee({ suffix: ' v2' }),
  again: () => ({ name: 'again', tool: (_, next) => next().catch(() => next()) }),
  policy: () => ({ name: 'policy', tool: (ctx) => ctx.deny('Not today.') as never }),
  quiet: () => ({ name: 'policy', tool: (_, next) => next() }),
  welcome: welcome(),
  'welcome renamed': welcome({ suffix: ' v2' }),
  'welcome per attempt': welcome({ per: 'attempt' }),
  'welcome removed': () => around('welcome'),
  'welcome in model': (setup) =>
    around('welcome', {
      async model(ctx, next) {
        await effect(ctx, setup, 'welcome')
        return next()
      },
    }),
  'welcome at the end': (setup) =>
    around('welcome', {
      async turn(ctx, next) {
        await next()
        await effect(ctx, setup, 'welcome')
      },
    }),
  receipt: receipt(),
  'receipt renamed': receipt({ suffix: ' v2' }),
  'receipt first': (setup) =>
    around('receipt', {
      async turn(ctx, next) {
        await effect(ctx, setup, 'receipt')
        return next()
      },
    }),
  stamp: stamp(),
  'stamp renamed': stamp({ suffix: ' v2' }),
  'stamp afterwards': (setup) =>
    around('stamp', {
      async tool(ctx, next) {
        const result = await next()
        await effect(ctx, setup, `stamp ${ctx.callId}`)
        return result
      },
    }),
  'stamp removed': () => around('stamp'),
  judge: judgesInputs(),
  'judge renamed': judgesInputs(' v2'),
  'judge removed': () => ({ name: 'judge', inherit: true, turn: (_, next) => next() }),
  beside: judgesBeside(),
  'beside renamed': judgesBeside(' v2'),
  'beside removed': () => ({ name: 'beside', turn: (_, next) => next() }),
  gate: () => around('gate'),
}

/** How a gate ends a turn. */
const ends: Readonly<Record<string, (ctx: Ending) => unknown>> = {
  block: (ctx) => ctx.block('Maintenance.'),
  abort: (ctx) => ctx.abort('Maintenance.'),
  stop: (ctx) => ctx.stop('Maintenance.'),
  throw: () => {
    throw new Error('x is not a function')
  },
}
interface Ending {
  block(reason: string): never
  abort(reason: string): never
  stop(reason: string): void
}

/** Where a gate does it. */
const places: Readonly<Record<string, (end: (ctx: Ending) => unknown) => ReturnType<typeof around>>> = {
  'before the turn': (end) =>
    around('gate', {
      turn(ctx, next) {
        end(ctx)
        return next()
      },
    }),
  'after the turn': (end) =>
    around('gate', {
      async turn(ctx, next) {
        await next()
        end(ctx)
      },
    }),
  'before a model call': (end) =>
    around('gate', {
      model(ctx, next) {
        end(ctx)
        return next()
      },
    }),
  'before the second model call': (end) =>
    around('gate', {
      model(ctx, next) {
        if (ctx.callIndex > 0) end(ctx)
        return next()
      },
    }),
  'after a model call': (end) =>
    around('gate', {
      async model(ctx, next) {
        const response = await next()
        end(ctx)
        return response
      },
    }),
  'before a tool': (end) =>
    around('gate', {
      tool(ctx, next) {
        end(ctx)
        return next()
      },
    }),
  'after a tool': (end) =>
    around('gate', {
      async tool(ctx, next) {
        const result = await next()
        end(ctx)
        return result
      },
    }),
}

/** The names of the gates, such as `gate: block before a tool`. All have the structure of `gate`. */
export const gates = Object.keys(ends).flatMap((how) => Object.keys(places).map((where) => `gate: ${how} ${where}`))

export function layerOf(name: string, setup: LayerSetup): Named {
  const [, how = '', where = ''] = /^gate: (\w+) (.+)$/.exec(name) ?? []
  const gate = places[where]
  const end = ends[how]
  if (gate !== undefined && end !== undefined) return gate(end)
  return (layers[name] as MakeLayer)(setup)
}

/** Reports the tool calls that reach the core of their onion. */
export function probe({ onAsk }: Effects): Named {
  return {
    name: 'probe',
    tool(ctx, next) {
      onAsk?.(ctx.callId)
      return next()
    },
  }
}
