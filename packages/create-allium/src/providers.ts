export interface Provider {
  title: string
  /** The package of the AI SDK, and its version. */
  package: string
  version: string
  /** The environment variable of its key. */
  key: string
  model: string
}

/** The model providers that a project can start with. */
export const providers = {
  openai: {
    title: 'OpenAI',
    package: '@ai-sdk/openai',
    version: '^3.0.141',
    key: 'OPENAI_API_KEY',
    model: 'openai/gpt-5-mini',
  },
  anthropic: {
    title: 'Anthropic',
    package: '@ai-sdk/anthropic',
    version: '^3.0.138',
    key: 'ANTHROPIC_API_KEY',
    model: 'anthropic/claude-sonnet-4-6',
  },
  google: {
    title: 'Google',
    package: '@ai-sdk/google',
    version: '^3.0.141',
    key: 'GOOGLE_GENERATIVE_AI_API_KEY',
    model: 'google/gemini-2.5-flash',
  },
} as const satisfies Record<string, Provider>

export type ProviderName = keyof typeof providers

export function isProvider(name: string): name is ProviderName {
  return Object.hasOwn(providers, name)
}
