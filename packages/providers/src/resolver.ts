import { AlliumError, type Model, type ResolveModel } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import { type AiSdkModel, isAiSdkModel } from './ai-sdk-model.ts'
import { type AiSdkProvider, type Import, isAiSdkProvider } from './ai-sdk-provider.ts'
import type { Env } from './api-keys.ts'
import { fromAiSdk } from './from-ai-sdk.ts'
import { type ModelRefParts, parseModelRef } from './model-ref.ts'

/** Creates the model for a string. `principal` is the caller, so that each tenant may use its own key. */
export type ModelFactory = (
  modelId: string,
  context: { principal: unknown },
) => Model | AiSdkModel | Promise<Model | AiSdkModel>

/** The entry of a provider: an AI SDK provider, one model for all names, or a function. */
export type ProviderEntry = AiSdkProvider | Model | AiSdkModel | ModelFactory

export interface ResolverOptions {
  /** Checked first, by the part of the string before the slash. With a bundler, list the providers that you use. */
  providers?: Readonly<Record<string, ProviderEntry>> | undefined
  /** The source of keys, `<PROVIDER>_BASE_URL` and a cloud's own settings, such as `AWS_REGION`. @default process.env */
  env?: Env | undefined
  /** Imports a provider's package. @default import(), from this package and then from the program's directory */
  import?: Import | undefined
}

const optionKeys: KeysOf<ResolverOptions> = { providers: true, env: true, import: true }

/** The maximum number of cached models per resolver. Strings may come from tenants, so the oldest are evicted. */
const maxCached = 500

/**
 * Creates a resolver of strings such as `anthropic/claude-sonnet-4-6`: it looks in `providers`, then in the package
 * `@ai-sdk/<provider>`, which it imports on first use. `ollama/<model>` uses OLLAMA_HOST and needs no key. Models are
 * cached by string, except those that a function in `providers` creates.
 *
 * @throws AlliumError (from the resolver) `model.invalid`, `provider.not_installed`, `provider.key_missing`, `provider.unsupported`
 * @example
 * new Agent({ model: 'openai/gpt-5', resolveModel: createResolver() })
 */
export function createResolver(
  options: ResolverOptions = {},
): (ref: string, context?: Parameters<ResolveModel>[1]) => Promise<Model> {
  checkOptions(options, optionKeys, 'createResolver()', 'options.invalid')
  const { providers = {}, env = processEnv(), import: load } = options
  const cache = new Map<string, Promise<Model>>()

  return async (ref, context = { principal: undefined }) => {
    const parts = parseModelRef(ref)
    const entry = Object.hasOwn(providers, parts.provider) ? providers[parts.provider] : undefined
    if (isFactory(entry)) return toModel(await entry(parts.modelId, context), ref)
    const cached = cache.get(ref) ?? cacheModel(ref, find(parts, entry, ref))
    return cached
  }

  async function find(
    parts: ModelRefParts,
    entry: Exclude<ProviderEntry, ModelFactory> | undefined,
    ref: string,
  ): Promise<Model> {
    if (entry !== undefined && !isAiSdkProvider(entry)) return toModel(entry, ref)
    return toModel((entry ?? (await importProvider(parts.provider))).languageModel(parts.modelId), ref)
  }

  async function importProvider(provider: string): Promise<AiSdkProvider> {
    const { namedProvider } = await import('./named-provider.ts')
    return namedProvider(provider, env, load)
  }

  function cacheModel(ref: string, model: Promise<Model>): Promise<Model> {
    if (cache.size >= maxCached) cache.delete(cache.keys().next().value as string)
    cache.set(ref, model)
    // Failures are not cached, because the key may be set or the package installed before the next attempt.
    model.catch(() => cache.delete(ref))
    return model
  }
}

/** AI SDK providers are callable too, so they are excluded. */
function isFactory(entry: ProviderEntry | undefined): entry is ModelFactory {
  return typeof entry === 'function' && !isAiSdkProvider(entry)
}

function toModel(value: unknown, ref: string): Model {
  if (isAiSdkModel(value)) return fromAiSdk(value)
  if (typeof value === 'object' && value !== null && typeof (value as Partial<Model>).stream === 'function')
    return value as Model
  throw new AlliumError(
    'model.invalid',
    `The provider of ${JSON.stringify(ref)} returned no language model: neither doStream nor stream is a function.`,
  )
}

function processEnv(): Env {
  return typeof process === 'undefined' ? {} : process.env
}
