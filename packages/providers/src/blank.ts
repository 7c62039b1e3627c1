import type { AiSdkModel } from './ai-sdk-model.ts'

export function isBlank(text: string): boolean {
  return text.trim() === ''
}

/**
 * Whether the API of a model rejects each request with a text of white space, which would make the session unusable. Anthropic's does, for
 * all providers that offer its models, and so does Bedrock's.
 */
export function rejectsBlank({ provider, modelId }: AiSdkModel): boolean {
  return /anthropic|claude|bedrock/i.test(`${provider} ${modelId}`)
}
