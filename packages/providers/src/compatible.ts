import type { OpenAICompatibleProviderSettings } from '@ai-sdk/openai-compatible'
import { AlliumError } from '@allium/core'
import type { AiSdkProvider, Import } from './ai-sdk-provider.ts'
import { credentialsOf, type Env, twoAddresses } from './api-keys.ts'
import { ollamaUrl } from './ollama-url.ts'
import { importPackage } from './provider-package.ts'

/** Providers without their own `@ai-sdk/` package that speak OpenAI's chat format. */
const settingsOf: Record<string, (env: Env) => Endpoint> = {
  'openai-compatible': (env) => ({ baseURL: compatibleUrl(env), ...compatibleKey(env) }),
  ollama(env) {
    const { baseURL, ...key } = credentialsOf('ollama', env) ?? {}
    if (baseURL === undefined) return { ...key, baseURL: ollamaUrl(env.OLLAMA_HOST) }
    const url = ollamaUrl(baseURL, 'OLLAMA_BASE_URL')
    if (env.OLLAMA_HOST?.trim() && ollamaUrl(env.OLLAMA_HOST) !== url)
      throw twoAddresses('ollama', ['OLLAMA_BASE_URL', 'OLLAMA_HOST'])
    return { ...key, baseURL: url }
  },
  openrouter: (env) => ({
    baseURL: 'https://openrouter.ai/api/v1',
    ...credentialsOf('openrouter', env, '@ai-sdk/openai-compatible'),
  }),
}

type Endpoint = Pick<OpenAICompatibleProviderSettings, 'baseURL' | 'apiKey'>

export function isCompatible(provider: string): boolean {
  return Object.hasOwn(settingsOf, provider)
}

/**
 * Loads a provider through `@ai-sdk/openai-compatible`, which also requests token counts in streams.
 *
 * @throws AlliumError `provider.key_missing`, `provider.not_installed`, `provider.unsupported`
 */
export async function compatibleProvider(name: string, env: Env, load: Import): Promise<AiSdkProvider> {
  const endpoint = settingsOf[name]?.(env)
  const { createOpenAICompatible } = await importPackage('@ai-sdk/openai-compatible', load)
  return (createOpenAICompatible as (options: object) => AiSdkProvider)({
    name,
    includeUsage: true,
    supportsStructuredOutputs: true,
    ...endpoint,
  })
}

/** Returns the base URL of any server with OpenAI's chat format, from its own variable or else from OpenAI's. */
function compatibleUrl({ OPENAI_COMPATIBLE_BASE_URL: customUrl, OPENAI_BASE_URL: openai }: Env): string {
  const url = customUrl || openai
  if (url) return url
  throw new AlliumError(
    'provider.unsupported',
    'The provider "openai-compatible" has no address: set OPENAI_COMPATIBLE_BASE_URL, or OPENAI_BASE_URL, to the base URL of a server, such as "http://127.0.0.1:8000/v1".',
    { details: { provider: 'openai-compatible', variable: 'OPENAI_COMPATIBLE_BASE_URL' } },
  )
}

/** Returns the key that belongs to the URL: OpenAI's key is never sent to OPENAI_COMPATIBLE_BASE_URL. */
function compatibleKey(env: Env): { apiKey?: string } {
  const key = env.OPENAI_COMPATIBLE_BASE_URL
    ? env.OPENAI_COMPATIBLE_API_KEY
    : env.OPENAI_COMPATIBLE_API_KEY || env.OPENAI_API_KEY
  return key ? { apiKey: key } : {}
}
