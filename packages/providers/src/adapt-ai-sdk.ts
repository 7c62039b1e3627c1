import type { Model } from '@allium/core'
import type { ForeignModel } from '@allium/core/internal'
import type { AiSdkModel } from './ai-sdk-model.ts'
import { fromAiSdk } from './from-ai-sdk.ts'

const adapted = new WeakMap<ForeignModel, Model>()

/**
 * For an agent's `adaptModel`: accepts AI SDK models wherever an agent takes a model. The same object always gives the same model.
 * The `Agent` of `allium` uses it.
 *
 * @example
 * new Agent({ model: openai('gpt-5'), adaptModel: adaptAiSdk })
 */
export function adaptAiSdk(model: ForeignModel): Model {
  const existing = adapted.get(model) ?? fromAiSdk(model as AiSdkModel)
  adapted.set(model, existing)
  return existing
}
