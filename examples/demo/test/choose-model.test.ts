import { Agent } from 'allium'
import { expect, it, onTestFinished } from 'vitest'
import { chooseModel } from '../src/models/choose-model.ts'
import type { Env } from '../src/models/chosen-model.ts'
import { nobody, ollamaServer, openAiServer, silentServer } from './servers.ts'

it('asks the model that ALLIUM_MODEL names, with its key', async () => {
  const { url, requests } = await openAiServer('Hello', ' from there.')
  const chosen = await choose({
    ALLIUM_MODEL: 'openai/gpt-5-mini',
    OPENAI_API_KEY: 'key-1',
    OPENAI_BASE_URL: `${url}/v1`,
  })
  expect(chosen.model.id).toBe('openai/gpt-5-mini')
  expect(chosen.why).toContain('ALLIUM_MODEL')

  const { text, usage } = await new Agent({ model: chosen.model }).run('Hello')
  expect(text).toBe('Hello from there.')
  expect(usage).toMatchObject({ inputTokens: 20, outputTokens: 7 })
  expect(requests[0]!.headers.authorization).toBe('Bearer key-1')
})

it('names the variable of the key that is missing', async () => {
  await expect(chooseModel({ ALLIUM_MODEL: 'openai/gpt-5-mini' })).rejects.toThrow('OPENAI_API_KEY')
})

it('prefers ALLIUM_MODEL to an Ollama that answers', async () => {
  const { host, requests } = await ollamaServer({ models: ['qwen3:4b'] })
  const chosen = await choose({ ALLIUM_MODEL: 'openai/gpt-5-mini', OPENAI_API_KEY: 'key-1', OLLAMA_HOST: host })
  expect(chosen.model.id).toBe('openai/gpt-5-mini')
  expect(requests).toEqual([])
})

it('takes the first model of an Ollama that can chat', async () => {
  const { host } = await ollamaServer({ models: ['nomic-embed-text:latest', 'qwen3:4b'], pieces: ['Hello', ' you.'] })
  const chosen = await choose({ OLLAMA_HOST: host })
  expect(chosen.model.id).toBe('ollama/qwen3:4b')
  expect(chosen.why).toContain(host)

  const { text, usage } = await new Agent({ model: chosen.model }).run('Hello')
  expect(text).toBe('Hello you.')
  expect(usage).toMatchObject({ inputTokens: 20, outputTokens: 7 })
})

it.each([
  ['nobody answers', async () => nobody],
  ['something answers that is not Ollama', async () => (await openAiServer()).host],
  ['nothing comes in 300 ms', async () => (await silentServer()).host],
  ['Ollama has no model', async () => (await ollamaServer({ models: [] })).host],
])('plays the model itself where %s', async (_, host) => {
  const chosen = await choose({ OLLAMA_HOST: await host() })
  expect(chosen.why).toContain('aimock')
  const { toolCalls } = await new Agent({ model: chosen.model }).run('Where is our order A-1042?', { maxSteps: 1 })
  expect(toolCalls).toMatchObject([{ name: 'look_up_order', args: { orderId: 'A-1042' } }])
})

async function choose(env: Env) {
  const chosen = await chooseModel(env)
  onTestFinished(() => chosen.close())
  return chosen
}
