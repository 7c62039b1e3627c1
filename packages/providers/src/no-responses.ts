import type { AiSdkModel } from './ai-sdk-model.ts'
import { serverOf } from './server.ts'

/** Adds a fix to the 404 error of a server without OpenAI's Responses API; any other error stays unchanged. */
export function withFix(error: unknown, model: AiSdkModel): unknown {
  if (!(error instanceof Error) || (error as { statusCode?: unknown }).statusCode !== 404) return error
  if (model.provider !== 'openai.responses' || serverOf(model)?.address === 'api.openai.com') return error
  const { url } = error as { url?: unknown }
  if (typeof url !== 'string' || !/\/responses$/.test(url.split(/[?#]/, 1)[0] as string)) return error
  error.message += `. "openai/${model.modelId}" posts to /responses, which servers of the chat format do not have: use "openai-compatible/${model.modelId}", which posts to /chat/completions.`
  return error
}
