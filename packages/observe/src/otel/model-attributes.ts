import type { Attributes } from '@opentelemetry/api'
import { names } from './names.ts'

/** Returns provider and model of an id such as `anthropic/claude-sonnet-4-6`. */
export function modelAttributes(id: string): Attributes {
  const { provider, model } = splitModel(id)
  return { ...(provider !== undefined && { [names.provider]: provider }), [names.requestModel]: model }
}

export function splitModel(id: string): { provider: string | undefined; model: string } {
  const slash = id.indexOf('/')
  if (slash < 0) return { provider: undefined, model: id }
  const provider = id.slice(0, slash)
  return { provider: providers.get(provider) ?? provider, model: id.slice(slash + 1) }
}

/** Providers that have another name in the conventions. */
const providers = new Map([
  ['google', 'gcp.gemini'],
  ['google-vertex', 'gcp.vertex_ai'],
  ['vertex', 'gcp.vertex_ai'],
  ['amazon-bedrock', 'aws.bedrock'],
  ['bedrock', 'aws.bedrock'],
  ['azure', 'azure.ai.openai'],
  ['mistral', 'mistral_ai'],
  ['xai', 'x_ai'],
  ['moonshotai', 'moonshot_ai'],
])
