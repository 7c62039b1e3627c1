import { createResolver } from 'allium'
import { z } from 'zod'
import type { ChosenModel, Env } from './chosen-model.ts'

const Tags = z.object({ models: z.array(z.object({ name: z.string() })) })

/** The first chat model of a local Ollama, if one answers within 300 ms. */
export async function ollamaModel(env: Env): Promise<ChosenModel | undefined> {
  const url = addressOf(env.OLLAMA_HOST)
  const name = (await listModels(url)).find((one) => !one.includes('embed'))
  if (name === undefined) return undefined
  const model = await createResolver({ env })(`ollama/${name}`, { principal: undefined })
  return { model, why: `Ollama answers at ${url.host} and has it.`, close: async () => {} }
}

async function listModels(url: URL): Promise<string[]> {
  try {
    const response = await fetch(new URL('/api/tags', url), { signal: AbortSignal.timeout(300) })
    return Tags.parse(await response.json()).models.map(({ name }) => name)
  } catch {
    return [] // nobody there, or not Ollama
  }
}

/** OLLAMA_HOST may be a URL, a host, a port or both; a server's "all addresses" is this machine. */
function addressOf(host = ''): URL {
  const text = host.trim() || '127.0.0.1'
  const url = new URL(text.includes('://') ? text : `http://${text.startsWith(':') ? `127.0.0.1${text}` : text}`)
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1'
  if (url.port === '' && url.protocol === 'http:') url.port = '11434'
  return url
}
