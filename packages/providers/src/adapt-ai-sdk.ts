import type { ForeignModel, Model } from '@allium/core'
import type { AiSdkModel } from './ai-sdk-model.ts'
import { fromAiSdk } from './from-ai-sdk.ts'

const adapted = new WeakMap<ForeignModel, Model>()

/**
 * For an agent's `adaptModel`: takes models of the AI SDK as they are, wherever a model is taken. One object gives one model.
 * The `Agent` of `allium` has it.
 *
 * @example
 * new Agent({ model: openai('gpt-5'), adaptModel: adaptAiSdk })
 */
export function adaptAiSdk(model: ForeignModel): Model {
  const existing = adapted.get(model) ?? fromAiSdk(model as AiSdkModel)
  adapted.set(model, existing)
  return existing
}
