import { type AiSdkModel, providerName } from './ai-sdk-model.ts'

/** The page with the model ids of a provider. */
const modelPages: Record<string, string> = {
  anthropic: 'docs.claude.com/en/docs/about-claude/models',
  google: 'ai.google.dev/gemini-api/docs/models',
  ollama: 'ollama.com/library',
  openai: 'platform.openai.com/docs/models',
}

/** Adds a fix to the error of a provider that does not have the model; any other error stays unchanged. */
export function withModelFix(error: unknown, model: AiSdkModel): unknown {
  if (!(error instanceof Error) || !isUnknownModel(error, model.modelId)) return error
  const provider = providerName(model)
  const page = Object.hasOwn(modelPages, provider) ? `https://${modelPages[provider]}` : "the provider's documentation"
  const end = /[.!?]$/.test(error.message) ? '' : '.'
  error.message += `${end} The provider "${provider}" has no model "${model.modelId}", or your key has no access to it. Correct the id where your code sets the model; see ${page} for the list.`
  return error
}

/** A 404 that names the model, or OpenAI's code, which its Responses API sends with a 400. A 404 of a wrong URL names no model. */
function isUnknownModel(error: Error, modelId: string): boolean {
  const { statusCode, responseBody } = error as { statusCode?: unknown; responseBody?: unknown }
  if (statusCode === 404 && error.message.slice(0, 1_000).includes(modelId)) return true
  const isRejected = statusCode === 404 || statusCode === 400
  return isRejected && /"code"\s*:\s*"model_not_found"/.test(String(responseBody).slice(0, 4_000))
}
