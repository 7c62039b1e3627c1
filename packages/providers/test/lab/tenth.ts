import type { Version } from './row.ts'

/** The part of the table that runs with the end-to-end tests: each wire format once, in either version. */
export const tenth: readonly (readonly [row: string, of: Version])[] = [
  ['OpenAI Responses', 'newest'],
  ['Anthropic', 'newest'],
  ['Google', 'node20'],
  ['Cohere', 'newest'],
  ['Amazon Bedrock', 'node20'],
  ['Ollama (ollama-ai-provider-v2)', 'newest'],
  ['Mistral', 'newest'],
]
