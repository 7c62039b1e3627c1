import type { Row } from '../row.ts'
import { create, model } from './factory.ts'

const format = 'openai-responses'

export const responsesRows: readonly Row[] = [
  {
    name: 'OpenAI Responses',
    package: '@ai-sdk/openai',
    format,
    model: (from, url) => create(from, 'createOpenAI', { baseURL: `${url}/v1` }).responses!('gpt-5'),
  },
  {
    name: 'Azure OpenAI',
    package: '@ai-sdk/azure',
    format,
    model: (from, url) => create(from, 'createAzure', { baseURL: `${url}/openai` })('gpt-5'),
  },
  // The newest version has no chat by default, the one on Node 20 does.
  {
    name: 'xAI',
    package: '@ai-sdk/xai',
    versions: ['newest'],
    format: 'xai-responses',
    model: model('createXai', '/v1', 'grok-4'),
  },
  {
    name: 'Open Responses',
    package: '@ai-sdk/open-responses',
    format: 'open-responses',
    model: (from, url) => create(from, 'createOpenResponses', { name: 'acme', url: `${url}/v1/responses` })('m-1'),
  },
  {
    name: 'Hugging Face',
    package: '@ai-sdk/huggingface',
    format: 'huggingface',
    model: model('createHuggingFace', '/v1', 'moonshotai/Kimi-K2-Instruct'),
  },
  {
    name: 'Databricks Responses',
    package: '@databricks/ai-sdk-provider',
    versions: ['newest'],
    format,
    model: (from, url) => create(from, 'createDatabricksProvider', { baseURL: url }).responses!('m-1'),
  },
]
