import { fileURLToPath } from 'node:url'
import { LLMock } from '@copilotkit/aimock'
import { createResolver } from 'allium'
import type { Env } from './store.ts'

export interface Models {
  resolve: ReturnType<typeof createResolver>
  /** Which ones, for the screen. */
  name: string
  close(): Promise<void>
}

/** The models that plans name, by their providers' keys; without a key a server on this machine plays `data/story.json` in their wire format. */
export async function openModels(env: Env): Promise<Models> {
  if (env.OPENAI_API_KEY !== undefined)
    return { resolve: createResolver({ env }), name: "those that the plans name, at OpenAI's", close: async () => {} }
  const story = fileURLToPath(new URL('../data/story.json', import.meta.url))
  const mock = new LLMock({ host: '127.0.0.1', port: 0, chunkSize: 5, latency: 25, logLevel: 'silent' })
  const { url } = await mock
    .loadFixtureFile(story)
    .start()
    .then(() => mock)
  return {
    resolve: createResolver({ env: { OPENAI_API_KEY: 'none needed', OPENAI_BASE_URL: `${url}/v1` } }),
    name: 'a script, for OPENAI_API_KEY is not set',
    close: () => mock.stop(),
  }
}
