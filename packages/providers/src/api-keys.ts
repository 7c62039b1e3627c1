import { AlliumError } from '@allium/core'

/** Environment variables by name. */
export type Env = Readonly<Record<string, string | undefined>>

/** The variable with each provider's key, as its own package names it. Other providers check their keys themselves. */
const keyVariables: Record<string, string> = {
  anthropic: 'ANTHROPIC_API_KEY',
  azure: 'AZURE_API_KEY',
  cerebras: 'CEREBRAS_API_KEY',
  cohere: 'COHERE_API_KEY',
  deepinfra: 'DEEPINFRA_API_KEY',
  deepseek: 'DEEPSEEK_API_KEY',
  fireworks: 'FIREWORKS_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
  groq: 'GROQ_API_KEY',
  mistral: 'MISTRAL_API_KEY',
  openai: 'OPENAI_API_KEY',
  openrouter: 'OPENROUTER_API_KEY',
  perplexity: 'PERPLEXITY_API_KEY',
  xai: 'XAI_API_KEY',
}

/** Providers whose package names are known, to detect typos. */
export const knownProviders: readonly string[] = [
  ...Object.keys(keyVariables),
  'amazon-bedrock',
  'google-vertex',
  'ollama',
  'openai-compatible',
]

/** The credentials of a provider. */
export interface Credentials {
  apiKey: string
  baseURL?: string
}

/**
 * Returns the key of a provider, and the base URL from `<PROVIDER>_BASE_URL` if set; undefined for a provider with an unknown variable.
 *
 * @throws AlliumError `provider.key_missing`, which names the variable
 */
export function credentialsOf(
  provider: string,
  env: Env,
  packageName = `@ai-sdk/${provider}`,
): Credentials | undefined {
  const variable = Object.hasOwn(keyVariables, provider) ? keyVariables[provider] : undefined
  if (variable === undefined) return undefined
  const apiKey = env[variable]
  if (apiKey === undefined || apiKey.trim() === '')
    throw new AlliumError(
      'provider.key_missing',
      `No key for the provider "${provider}": set the environment variable ${variable}. (Its package is ${packageName}.)`,
      { details: { provider, variable } },
    )
  const baseURL = env[variable.replace(/_API_KEY$/, '_BASE_URL')]
  return baseURL === undefined || baseURL === '' ? { apiKey } : { apiKey, baseURL }
}
