import type { Row } from '../row.ts'
import { create, model } from './factory.ts'

const compatible = '@ai-sdk/openai-compatible'

/** Packages of one provider with the chat format. */
export const chatRows: readonly Row[] = [
  {
    name: 'OpenAI chat',
    package: '@ai-sdk/openai',
    format: 'openai-chat',
    model: (from, url) => create(from, 'createOpenAI', { baseURL: `${url}/v1` }).chat!('gpt-4o'),
  },
  {
    name: 'Mistral',
    package: '@ai-sdk/mistral',
    format: 'mistral',
    model: model('createMistral', '/v1', 'magistral-medium-latest'),
  },
  {
    name: 'DeepSeek',
    package: '@ai-sdk/deepseek',
    format: 'deepseek',
    model: model('createDeepSeek', '', 'deepseek-reasoner'),
  },
  { name: 'Groq', package: '@ai-sdk/groq', format: 'groq', model: model('createGroq', '/openai/v1', 'qwen/qwen3-32b') },
  {
    name: 'Cerebras',
    package: '@ai-sdk/cerebras',
    format: 'cerebras',
    model: model('createCerebras', '/v1', 'gpt-oss-120b'),
  },
  {
    name: 'xAI chat',
    package: '@ai-sdk/xai',
    versions: ['node20'],
    format: 'xai-chat',
    model: model('createXai', '/v1', 'grok-4'),
  },
  {
    name: 'Perplexity',
    package: '@ai-sdk/perplexity',
    format: 'perplexity',
    model: model('createPerplexity', '', 'sonar-pro'),
  },
  {
    name: 'Together AI',
    package: '@ai-sdk/togetherai',
    format: 'chat-reasoning',
    model: model('createTogetherAI', '/v1', 'openai/gpt-oss-120b'),
  },
  {
    name: 'Fireworks',
    package: '@ai-sdk/fireworks',
    format: 'chat-reasoning-content',
    model: model('createFireworks', '/inference/v1', 'accounts/fireworks/models/deepseek-v3p1'),
  },
  {
    name: 'Moonshot',
    package: '@ai-sdk/moonshotai',
    format: 'moonshot',
    model: model('createMoonshotAI', '/v1', 'kimi-k2-thinking'),
  },
  {
    name: 'Alibaba',
    package: '@ai-sdk/alibaba',
    format: 'chat-reasoning-content',
    model: model('createAlibaba', '/v1', 'qwen3-max'),
  },
  {
    name: 'Qwen',
    package: 'qwen-ai-provider-v5',
    versions: ['newest'],
    format: 'chat-reasoning-content',
    model: model('createQwen', '/v1', 'qwen-plus'),
  },
  {
    name: 'Baseten',
    package: '@ai-sdk/baseten',
    format: 'vllm',
    model: model('createBaseten', '/v1', 'deepseek-ai/DeepSeek-V3.1'),
  },
  {
    name: 'DeepInfra',
    package: '@ai-sdk/deepinfra',
    format: 'vllm',
    model: model('createDeepInfra', '/v1', 'deepseek-ai/DeepSeek-V3.1'),
  },
  {
    name: 'Vercel v0',
    package: '@ai-sdk/vercel',
    versions: ['newest'],
    format: 'chat-reasoning-content',
    model: model('createVercel', '/v1', 'v0-1.5-md'),
  },
  {
    name: 'FriendliAI',
    package: '@friendliai/ai-provider',
    versions: ['newest'],
    format: 'vllm',
    model: model('createFriendli', '/v1', 'meta-llama-3.3-70b-instruct'),
  },
  {
    name: 'Databricks chat',
    package: '@databricks/ai-sdk-provider',
    versions: ['newest'],
    format: 'databricks',
    model: (from, url) => create(from, 'createDatabricksProvider', { baseURL: url }).chatCompletions!('m-1'),
  },
  {
    name: 'Zhipu',
    package: 'zhipu-ai-provider',
    versions: ['newest'],
    format: 'zhipu',
    model: model('createZhipu', '/api/paas/v4', 'glm-4.6'),
  },
  {
    name: 'MiniMax chat',
    package: 'vercel-minimax-ai-provider',
    versions: ['newest'],
    format: 'chat-reasoning-content',
    model: model('createMinimaxOpenAI', '/v1', 'MiniMax-M2'),
  },
  {
    name: 'SambaNova',
    package: 'sambanova-ai-provider',
    versions: ['newest'],
    format: 'chat-reasoning-content',
    model: model('createSambaNova', '/v1', 'DeepSeek-V3.1'),
  },
  {
    name: 'any chat server',
    package: compatible,
    format: 'vllm',
    model: (from, url) =>
      create(from, 'createOpenAICompatible', { name: 'acme', baseURL: `${url}/v1`, includeUsage: true })('m-1'),
  },
  {
    name: 'Ollama (its chat completions)',
    package: compatible,
    format: 'chat-reasoning',
    model: (from, url) =>
      create(from, 'createOpenAICompatible', { name: 'ollama', baseURL: `${url}/v1`, includeUsage: true })('qwen3'),
  },
]
