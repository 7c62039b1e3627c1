import type { Row } from '../row.ts'
import { create, model } from './factory.ts'

/** Packages for a provider's own format. */
export const nativeRows: readonly Row[] = [
  {
    name: 'Anthropic',
    package: '@ai-sdk/anthropic',
    format: 'anthropic',
    model: model('createAnthropic', '/v1', 'claude-sonnet-4-5'),
  },
  {
    name: 'MiniMax',
    package: 'vercel-minimax-ai-provider',
    versions: ['newest'],
    format: 'minimax',
    model: model('createMinimax', '/anthropic/v1', 'MiniMax-M2'),
  },
  {
    name: 'Google',
    package: '@ai-sdk/google',
    format: 'gemini',
    model: model('createGoogleGenerativeAI', '/v1beta', 'gemini-2.5-flash'),
  },
  {
    name: 'Google Vertex',
    package: '@ai-sdk/google-vertex',
    format: 'gemini',
    model: model('createVertex', '/v1', 'gemini-2.5-flash'),
  },
  {
    name: 'Cohere',
    package: '@ai-sdk/cohere',
    format: 'cohere',
    model: model('createCohere', '/v2', 'command-a-03-2025'),
  },
  {
    name: 'Amazon Bedrock',
    package: '@ai-sdk/amazon-bedrock',
    format: 'bedrock',
    model: (from, url) =>
      create(from, 'createAmazonBedrock', { region: 'us-east-1', baseURL: url })(
        'anthropic.claude-sonnet-4-5-20250929-v1:0',
      ),
  },
  {
    name: 'Ollama (ai-sdk-ollama)',
    package: 'ai-sdk-ollama',
    versions: ['newest'],
    format: 'ollama',
    model: (from, url) => create(from, 'createOllama', { baseURL: url })('qwen3'),
  },
  {
    name: 'Ollama (ollama-ai-provider-v2)',
    package: 'ollama-ai-provider-v2',
    format: 'ollama',
    model: model('createOllama', '/api', 'qwen3'),
  },
]
