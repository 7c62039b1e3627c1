import { type AiSdkModel, providerName } from './ai-sdk-model.ts'
import { serverOf } from './server.ts'

/** The page with the model ids of a provider. */
const modelPages: Record<string, string> = {
  anthropic: 'docs.claude.com/en/docs/about-claude/models',
  google: 'ai.google.dev/gemini-api/docs/models',
  ollama: 'ollama.com/library',
  openai: 'platform.openai.com/docs/models',
}

/** Adds a fix to the message of a provider's error if the cause is known; any other error stays unchanged. */
export function withAdvice(error: unknown, model: AiSdkModel): unknown {
  if (!(error instanceof Error)) return error
  const advice = unknownModel(error, model) ?? noResponsesApi(error, model)
  if (advice !== undefined) error.message += `${/[.!?]$/.test(error.message) ? '' : '.'} ${advice}`
  return error
}

/** A 404 that names the model, or OpenAI's code, which its Responses API sends with a 400. A 404 of a wrong URL names no model. */
function unknownModel(error: Error, model: AiSdkModel): string | undefined {
  const { modelId } = model
  const { statusCode, responseBody } = error as { statusCode?: unknown; responseBody?: unknown }
  if (statusCode !== 404 && statusCode !== 400) return undefined
  const isNamed = statusCode === 404 && error.message.slice(0, 1_000).includes(modelId)
  if (!isNamed && !/"code"\s*:\s*"model_not_found"/.test(String(responseBody).slice(0, 4_000))) return undefined
  const provider = providerName(model)
  const page = Object.hasOwn(modelPages, provider) ? `https://${modelPages[provider]}` : "the provider's documentation"
  return `The provider "${provider}" has no model "${modelId}", or your key has no access. Correct the id: ${page} has the list.`
}

/** The 404 of a server without OpenAI's Responses API. */
function noResponsesApi(error: Error, model: AiSdkModel): string | undefined {
  const { statusCode, url } = error as { statusCode?: unknown; url?: unknown }
  if (statusCode !== 404 || model.provider !== 'openai.responses') return undefined
  if (serverOf(model)?.address === 'api.openai.com' || typeof url !== 'string') return undefined
  if (!/\/responses$/.test(url.split(/[?#]/, 1)[0] as string)) return undefined
  return `"openai/${model.modelId}" posts to /responses, which not every server has: use "openai-compatible/${model.modelId}", which posts to /chat/completions.`
}
