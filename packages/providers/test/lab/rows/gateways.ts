import type { AiSdkModel } from '@allium/providers'
import type { ProviderPackage, Row } from '../row.ts'
import { create, fetchTo, model } from './factory.ts'

/** Packages of providers that offer models of others. */
export const gatewayRows: readonly Row[] = [
  {
    name: 'OpenRouter',
    package: '@openrouter/ai-sdk-provider',
    format: 'openrouter',
    model: model('createOpenRouter', '/api/v1', 'anthropic/claude-sonnet-4.5'),
  },
  {
    name: 'LLM Gateway',
    package: '@llmgateway/ai-sdk-provider',
    format: 'openrouter',
    model: model('createLLMGateway', '/v1', 'openai/gpt-5'),
  },
  {
    name: 'Requesty',
    package: '@requesty/ai-sdk',
    versions: ['newest'],
    format: 'gateway',
    model: model('createRequesty', '/v1', 'openai/gpt-5'),
  },
  { name: 'Workers AI', package: 'workers-ai-provider', versions: ['newest'], format: 'workers-ai', model: workersAi },
  {
    name: 'AIHubMix',
    package: '@aihubmix/ai-sdk-provider',
    versions: ['newest'],
    format: 'openai-chat',
    model: (from, url) => create(from, 'createAihubmix', { fetch: fetchTo(url) })('gpt-4o'),
  },
  {
    name: 'Spice',
    package: '@spiceai/spice-ai-provider',
    versions: ['newest'],
    format: 'chat-reasoning-content',
    model: model('createSpice', '/v1', 'm-1'),
  },
  {
    name: 'Helicone',
    package: '@helicone/ai-sdk-provider',
    versions: ['newest'],
    format: 'openai-chat',
    model: model('createHelicone', '', 'gpt-4o'),
  },
]

/** Workers AI is a binding of the runtime: here it asks the server, which Cloudflare's REST API does with the same body. */
function workersAi(from: ProviderPackage, url: string): AiSdkModel {
  const binding = {
    async run(
      name: string,
      inputs: object,
      { signal, returnRawResponse }: { signal?: AbortSignal; returnRawResponse?: boolean } = {},
    ) {
      const response = await fetch(`${url}/ai/run/${name}`, {
        method: 'POST',
        body: JSON.stringify(inputs),
        signal: signal ?? null,
      })
      if (returnRawResponse) return response
      if (!response.ok) throw Object.assign(new Error(await response.text()), { status: response.status })
      return response.body
    },
  }
  return create(from, 'createWorkersAI', { binding })('@cf/openai/gpt-oss-120b')
}
