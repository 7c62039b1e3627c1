import type { AiSdkModel } from '@allium/providers'
import type { ProviderPackage, Row } from './row.ts'

const apiKey = 'sk-lab'

/** Packages whose factory takes a key and a base URL. */
function model(factory: string, path: string, id: string): Row['model'] {
  return (from: ProviderPackage, url: string): AiSdkModel =>
    create(from, factory)({ apiKey, baseURL: `${url}${path}` })(id)
}

function create(from: ProviderPackage, factory: string): ProviderPackage[string] {
  const found = from[factory]
  if (found === undefined) throw new Error(`The package has no ${factory}: ${Object.keys(from).join(', ')}.`)
  return found
}

/** Every model object of the lab. A new package is one row here and one line in `packages/package.json`. */
export const rows: readonly Row[] = [
  {
    name: 'OpenAI chat',
    package: '@ai-sdk/openai',
    format: 'openai-chat',
    model: (from, url) => create(from, 'createOpenAI')({ apiKey, baseURL: `${url}/v1` }).chat!('gpt-4o'),
  },
  {
    name: 'Groq',
    package: '@ai-sdk/groq',
    format: 'openai-chat',
    model: model('createGroq', '/openai/v1', 'llama-3.3-70b-versatile'),
  },
  {
    name: 'any chat server',
    package: '@ai-sdk/openai-compatible',
    format: 'openai-chat',
    model: (from, url) =>
      create(from, 'createOpenAICompatible')({ name: 'acme', apiKey, baseURL: `${url}/v1`, includeUsage: true })('m-1'),
  },
]
