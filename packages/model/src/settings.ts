import {
  defineMiddleware,
  layerOptions,
  type ModelContext,
  misconfigured,
  option,
  type Settings,
  type TypedMiddleware,
} from '@allium/core'

/** Settings, or what gives those of one call: `ctx.callIndex`, `ctx.model` and the principal may tell them. */
export type SettingsSource =
  | Settings
  | ((ctx: ModelContext) => Settings | undefined | void | Promise<Settings | undefined | void>)

export interface SettingsOptions {
  /** For what neither the agent nor the run sets. */
  defaults?: SettingsSource | undefined
  /** For what nobody but this layer decides: it wins over the agent and the run. */
  overrides?: SettingsSource | undefined
  /** The layer's name. @default 'model:settings' */
  as?: string | undefined
}

const readOptions = layerOptions<SettingsOptions>('model:settings', {
  defaults: option.any,
  overrides: option.any,
})

/**
 * Settles the settings of each model call: temperature, length, provider options.
 *
 * `defaults` fill what is not set, `overrides` win. Provider options merge by provider and option, headers by name; all else
 * is taken whole. A setting that is `undefined` is not set.
 *
 * @throws AlliumError `layer.config` where neither is given
 * @example
 * agent.use(model.settings({ defaults: { temperature: 0.2 }, overrides: { maxOutputTokens: 1_000 } }))
 */
export function settings(options: SettingsOptions): TypedMiddleware<{}> {
  const { defaults, overrides, as = 'model:settings' } = readOptions(options)
  if (!isSource(defaults) && !isSource(overrides))
    throw misconfigured(as, 'changes nothing. Give it defaults or overrides: settings, or a function.')

  return defineMiddleware({
    name: as,
    order: { is: ['shapes'], inside: ['routes'] },
    async model(ctx, next) {
      const defaultSettings = await settingsOf(defaults, ctx)
      const overrideSettings = await settingsOf(overrides, ctx)
      ctx.settings = merge(merge(defaultSettings, ctx.request.settings), overrideSettings)
      return next()
    },
  })
}

function isSource(source: unknown): boolean {
  return typeof source === 'function' || (typeof source === 'object' && source !== null)
}

async function settingsOf(source: SettingsSource | undefined, ctx: ModelContext): Promise<Settings> {
  return (typeof source === 'function' ? await source(ctx) : source) ?? {}
}

/** What the second sets wins. */
function merge(first: Settings, second: Settings): Settings {
  const merged = { ...first, ...definedValues(second) }
  if (first.providerOptions !== undefined && second.providerOptions !== undefined)
    merged.providerOptions = mergeOptions(first.providerOptions, second.providerOptions)
  if (first.headers !== undefined && second.headers !== undefined)
    merged.headers = mergeHeaders(first.headers, second.headers)
  return merged
}

type ProviderOptions = NonNullable<Settings['providerOptions']>

function mergeOptions(first: ProviderOptions, second: ProviderOptions): ProviderOptions {
  const merged = { ...first }
  for (const [provider, options] of Object.entries(second))
    merged[provider] = { ...first[provider], ...definedValues(options) }
  return merged
}

/** Names of headers are the same in any case. */
function mergeHeaders(first: Record<string, string>, second: Record<string, string>): Record<string, string> {
  const overriddenNames = new Set(Object.keys(definedValues(second)).map((name) => name.toLowerCase()))
  const inheritedHeaders = Object.entries(first).filter(([name]) => !overriddenNames.has(name.toLowerCase()))
  return { ...Object.fromEntries(inheritedHeaders), ...definedValues(second) }
}

function definedValues<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T
}
