import { createResolver, ollamaUrl } from 'allium/ai-sdk'
import { z } from 'zod'
import type { ChosenModel, Env } from './chosen-model.ts'

const Tags = z.object({ models: z.array(z.object({ name: z.string() })) })

/**
 * Returns the first chat model of a local Ollama, if it responds within 300 ms.
 *
 * @throws AlliumError `provider.unsupported` if OLLAMA_HOST is not an address
 */
export async function ollamaModel(env: Env): Promise<ChosenModel | undefined> {
  const url = ollamaUrl(env.OLLAMA_HOST)
  const name = (await listModels(url)).find((one) => !one.includes('embed'))
  if (name === undefined) return undefined
  const model = await createResolver({ env })(`ollama/${name}`)
  return { model, why: `Ollama is running at ${new URL(url).host} and has this model.`, close: async () => {} }
}

async function listModels(url: string): Promise<string[]> {
  try {
    const response = await fetch(url.replace(/v1$/, 'api/tags'), { signal: AbortSignal.timeout(300) })
    return Tags.parse(await response.json()).models.map(({ name }) => name)
  } catch {
    return [] // nothing is listening there, or it is not Ollama
  }
}
