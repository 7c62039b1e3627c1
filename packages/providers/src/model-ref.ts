import { AlliumError } from '@allium/core'

/** The two halves of `provider/model`. */
export interface ModelRefParts {
  provider: string
  modelId: string
}

/**
 * Splits at the first slash: `openrouter/meta-llama/llama-4` is the model `meta-llama/llama-4` of `openrouter`. A string
 * may come from a tenant, so the provider cannot name a path or another package, and the model cannot leave its part of a URL.
 *
 * @throws AlliumError `model.invalid`
 */
export function parseModelRef(ref: string): ModelRefParts {
  const slash = ref.indexOf('/')
  if (slash < 1 || slash === ref.length - 1)
    throw invalidRef(
      ref,
      'is not of the form "provider/model", such as "openai/gpt-5" or "anthropic/claude-sonnet-4-6"',
    )
  const provider = ref.slice(0, slash)
  const modelId = ref.slice(slash + 1)
  if (!/^[a-z][a-z0-9-]*$/.test(provider))
    throw invalidRef(ref, 'has an invalid provider name. Use lower-case letters, digits and dashes')
  if (!/^[\w.:@/+~-]+$/.test(modelId) || /(^|\/)\.\.?(\/|$)/.test(modelId))
    throw invalidRef(ref, 'contains characters that no model id has')
  return { provider, modelId }
}

function invalidRef(ref: string, problem: string): AlliumError {
  const shortRef = ref.length > 60 ? `${ref.slice(0, 57)}…` : ref
  return new AlliumError('model.invalid', `The model ${JSON.stringify(shortRef)} ${problem}.`)
}
