import { fileURLToPath } from 'node:url'
import { createOpenAI } from '@ai-sdk/openai'
import { LLMock } from '@copilotkit/aimock'
import { fromAiSdk } from 'allium'
import type { ChosenModel } from './chosen-model.ts'

const script = fileURLToPath(new URL('../../data/conversation.json', import.meta.url))

/**
 * Starts a local server that speaks OpenAI's wire format and plays `data/conversation.json`. Everything in front of it
 * is real: the provider's package, HTTP, server-sent events, a 429.
 */
export async function mockModel(): Promise<ChosenModel> {
  const server = new LLMock({ host: '127.0.0.1', port: 0, chunkSize: 6, latency: 15, logLevel: 'silent' })
  await server.loadFixtureFile(script).start()
  const openai = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none needed' })
  return {
    model: fromAiSdk(openai('gpt-5-mini')),
    why: 'ALLIUM_MODEL is not set and no Ollama is running, so aimock simulates the model. It is a server on 127.0.0.1 with the wire format of OpenAI, called through @ai-sdk/openai.',
    close: () => server.stop(),
  }
}
