import { createResolver, ollamaUrl } from 'allium'
import { z } from 'zod'
import type { ChosenModel, Env } from './chosen-model.ts'

const Tags = z.object({ models: z.array(z.object({ name: z.string() })) })

/**
 * The first chat model of a local Ollama, if one answers within 300 ms.
 *
 * @throws AlliumError `provider.unsupported` where OLLAMA_HOST is no address
 */
export async function ollamaModel(env: Env): Promise<ChosenModel | undefined> {
  const url = ollamaUrl(env.OLLAMA_HOST)
  const name = (await listModels(url)).find((one) => !one.includes('embed'))
  if (name === undefined) return undefined
  const model = await createResolver({ env })(`ollama/${name}`)
  return { model, why: `Ollama answers at ${new URL(url).host} and has it.`, close: async () => {} }
}

async function listModels(url: string): Promise<string[]> {
  try {
    const response = await fetch(url.replace(/v1$/, 'api/tags'), { signal: AbortSignal.timeout(300) })
    return Tags.parse(await response.json()).models.map(({ name }) => name)
  } catch {
    return [] // nobody there, or not Ollama
  }
}
