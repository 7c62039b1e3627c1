import type { Row } from '../row.ts'
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
    format: 'llmgateway',
    model: model('createLLMGateway', '/v1', 'openai/gpt-5'),
  },
  {
    name: 'Requesty',
    package: '@requesty/ai-sdk',
    versions: ['newest'],
    format: 'gateway',
    model: model('createRequesty', '/v1', 'openai/gpt-5'),
  },
  {
    name: 'Workers AI',
    package: 'workers-ai-provider',
    versions: ['newest'],
    format: 'workers-ai',
    model: (from, url) =>
      create(from, 'createWorkersAI', { accountId: 'lab', fetch: fetchTo(url) })('@cf/openai/gpt-oss-120b'),
  },
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
