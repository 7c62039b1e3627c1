import { AlliumError } from '@allium/core'

/** Environment variables by name. */
export type Env = Readonly<Record<string, string | undefined>>

/** Providers that need a key. */
const keyed = [
  'alibaba',
  'anthropic',
  'azure',
  'baseten',
  'cerebras',
  'cohere',
  'deepinfra',
  'deepseek',
  'fireworks',
  'google',
  'groq',
  'huggingface',
  'mistral',
  'moonshotai',
  'openai',
  'openrouter',
  'perplexity',
  'togetherai',
  'vercel',
  'xai',
]
/** Providers whose package names are known, to detect typos. */
export const knownProviders: readonly string[] = [
  ...keyed,
  'amazon-bedrock',
  'gateway',
  'google-vertex',
  'ollama',
  'openai-compatible',
]

/** The beginning of a provider's variables, where its package does not use the provider's name. */
const prefixes = new Map([
  ['gateway', 'AI_GATEWAY'],
  ['google', 'GOOGLE_GENERATIVE_AI'],
  ['moonshotai', 'MOONSHOT'],
  ['togetherai', 'TOGETHER'],
])

/** More variables, by the setting of the package that takes the first one with a value. */
const moreVariables = new Map<string, Variables>([
  [
    'amazon-bedrock',
    {
      apiKey: ['AWS_BEARER_TOKEN_BEDROCK'],
      region: ['AWS_REGION'],
      accessKeyId: ['AWS_ACCESS_KEY_ID'],
      secretAccessKey: ['AWS_SECRET_ACCESS_KEY'],
      sessionToken: ['AWS_SESSION_TOKEN'],
      baseURL: ['AWS_ENDPOINT_URL_BEDROCK_RUNTIME', 'AWS_ENDPOINT_URL'],
    },
  ],
  ['azure', { resourceName: ['AZURE_RESOURCE_NAME'] }],
  ['google-vertex', { project: ['GOOGLE_VERTEX_PROJECT'], location: ['GOOGLE_VERTEX_LOCATION'] }],
  ['togetherai', { apiKey: ['TOGETHER_AI_API_KEY'] }],
])
type Variables = Record<string, readonly string[]>

/** The settings of a provider, as its package takes them. */
export type Credentials = Partial<Record<string, string>>

/**
 * Returns the settings of a provider that are in the environment: its key, the base URL from `<PROVIDER>_BASE_URL`, and settings of its
 * own, such as a region. Undefined if there are none.
 *
 * @throws AlliumError `provider.key_missing`, which names the variable; `provider.unsupported` for two base URLs that differ
 */
export function credentialsOf(
  provider: string,
  env: Env,
  packageName = `@ai-sdk/${provider}`,
): Credentials | undefined {
  const name = provider.toUpperCase().replaceAll('-', '_')
  const prefix = prefixes.get(provider) ?? name
  const variable = `${prefix}_API_KEY`
  const { apiKey = [], baseURL = [], ...more } = moreVariables.get(provider) ?? {}
  const addresses = [`${prefix}_BASE_URL`, `${name}_BASE_URL`] as const
  checkSame(env, addresses)
  const variables = { apiKey: [variable, ...apiKey], baseURL: [...addresses, ...baseURL], ...more }
  const found: Credentials = {}
  for (const [setting, names] of Object.entries(variables))
    for (const one of names) if (env[one]?.trim()) found[setting] ??= env[one]
  if (found.apiKey === undefined && keyed.includes(provider))
    throw new AlliumError(
      'provider.key_missing',
      `No key for the provider "${provider}": set the environment variable ${variable}. (Its package is ${packageName}.)`,
      { details: { provider, variable } },
    )
  return Object.keys(found).length === 0 ? undefined : found
}

/** Rejects two addresses, because prompts would go past the one that is not used. */
export function checkSame(env: Env, [first, second]: readonly [string, string]): void {
  if (!env[first]?.trim() || !env[second]?.trim() || env[first] === env[second]) return
  throw new AlliumError('provider.unsupported', `${first} and ${second} differ. Unset one of them.`)
}
