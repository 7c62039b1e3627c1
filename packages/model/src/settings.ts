import {
  defineMiddleware,
  layerOptions,
  type ModelContext,
  misconfigured,
  option,
  type Settings,
  type TypedMiddleware,
} from '@allium/core'

/** Settings, or a function that returns them for one call, based on `ctx.callIndex`, `ctx.model` or the principal. */
export type SettingsSource =
  | Settings
  | ((ctx: ModelContext) => Settings | undefined | void | Promise<Settings | undefined | void>)

export interface SettingsOptions {
  /** Apply if neither the agent nor the run sets a value. */
  defaults?: SettingsSource | undefined
  /** Override the agent and the run. */
  overrides?: SettingsSource | undefined
  /** The layer's name. @default 'model:settings' */
  as?: string | undefined
}

const readOptions = layerOptions<SettingsOptions>('model:settings', {
  defaults: option.any,
  overrides: option.any,
})

/**
 * Sets the settings of each model call: temperature, length, provider options.
 *
 * `defaults` fill unset values, `overrides` win. Provider options merge by provider and option, headers by name; all other settings are
 * replaced. A setting that is `undefined` is not set.
 *
 * @throws AlliumError `layer.config` when neither is given
 * @example
 * agent.use(model.settings({ defaults: { temperature: 0.2 }, overrides: { maxOutputTokens: 1_000 } }))
 */
export function settings(options: SettingsOptions): TypedMiddleware<{}> {
  const { defaults, overrides, as = 'model:settings' } = readOptions(options)
  if (!isSource(defaults) && !isSource(overrides))
    throw misconfigured(as, 'changes nothing. Pass defaults or overrides, each as settings or a function.')

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

/** The second overrides the first. */
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

/** Header names are case-insensitive. */
function mergeHeaders(first: Record<string, string>, second: Record<string, string>): Record<string, string> {
  const overriddenNames = new Set(Object.keys(definedValues(second)).map((name) => name.toLowerCase()))
  const inheritedHeaders = Object.entries(first).filter(([name]) => !overriddenNames.has(name.toLowerCase()))
  return { ...Object.fromEntries(inheritedHeaders), ...definedValues(second) }
}

function definedValues<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T
}
