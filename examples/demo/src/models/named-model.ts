import { createResolver } from 'allium/ai-sdk'
import type { ChosenModel, Env } from './chosen-model.ts'

/**
 * Returns the model that ALLIUM_MODEL names, such as `openai/gpt-5-mini`.
 *
 * @throws AlliumError `provider.key_missing` or `provider.not_installed`, which say what to set or to install
 */
export async function namedModel(env: Env): Promise<ChosenModel | undefined> {
  const ref = env.ALLIUM_MODEL?.trim()
  if (!ref) return undefined
  const model = await createResolver({ env })(ref)
  return { model, why: 'ALLIUM_MODEL is set to it.', close: async () => {} }
}
