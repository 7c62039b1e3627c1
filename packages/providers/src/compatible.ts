import type { OpenAICompatibleProviderSettings } from '@ai-sdk/openai-compatible'
import { AlliumError } from '@allium/core'
import type { AiSdkProvider, Import } from './ai-sdk-provider.ts'
import { checkSame, credentialsOf, type Env } from './api-keys.ts'
import { ollamaUrl } from './ollama-url.ts'
import { importPackage } from './provider-package.ts'

/** Providers without their own `@ai-sdk/` package that speak OpenAI's chat format. */
const settingsOf: Record<string, (env: Env) => Endpoint> = {
  'openai-compatible': compatibleEndpoint,
  ollama(env) {
    checkSame(env, ['OLLAMA_HOST', 'OLLAMA_BASE_URL'])
    const { baseURL = env.OLLAMA_HOST, ...key } = credentialsOf('ollama', env) ?? {}
    return { ...key, baseURL: ollamaUrl(baseURL) }
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

/**
 * Returns the address of any server with OpenAI's chat format, from its own variable or else from OpenAI's, and the key that belongs to
 * it: OpenAI's key is never sent to OPENAI_COMPATIBLE_BASE_URL.
 */
function compatibleEndpoint(env: Env): Endpoint {
  const { baseURL, ...key } = credentialsOf('openai-compatible', env) ?? {}
  if (baseURL !== undefined) return { ...key, baseURL }
  const { OPENAI_BASE_URL: openaiUrl, OPENAI_API_KEY: apiKey } = env
  if (openaiUrl) return { ...(apiKey && { apiKey }), ...key, baseURL: openaiUrl }
  throw new AlliumError(
    'provider.unsupported',
    'The provider "openai-compatible" has no address: set OPENAI_COMPATIBLE_BASE_URL, or OPENAI_BASE_URL, to the base URL of a server, such as "http://127.0.0.1:8000/v1".',
    { details: { provider: 'openai-compatible', variable: 'OPENAI_COMPATIBLE_BASE_URL' } },
  )
}
