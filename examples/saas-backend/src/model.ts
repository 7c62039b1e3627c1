import { readFileSync } from 'node:fs'
import { type FixtureFileEntry, LLMock } from '@copilotkit/aimock'
import { createResolver } from 'allium/ai-sdk'
import type { Env } from './store.ts'

export interface Models {
  resolve: ReturnType<typeof createResolver>
  /** A note about the models, for the terminal. */
  name: string
  close(): Promise<void>
}

/** Opens the models of the plans. Without an API key, a local server plays `data/story.json` in their wire format. */
export async function openModels(env: Env): Promise<Models> {
  if (env.OPENAI_API_KEY !== undefined)
    return { resolve: createResolver({ env }), name: 'the models of the plans, at OpenAI', close: async () => {} }
  const mock = new LLMock({ host: '127.0.0.1', port: 0, chunkSize: 5, latency: 25, logLevel: 'silent' })
  const { url } = await mock
    .addFixturesFromJSON(readStory())
    .start()
    .then(() => mock)
  return {
    resolve: createResolver({ env: { OPENAI_API_KEY: 'none needed', OPENAI_BASE_URL: `${url}/v1` } }),
    name: 'a script, because OPENAI_API_KEY is not set',
    close: () => mock.stop(),
  }
}

/** An agent that a conversation was handed off to begins as with a new question. */
function readStory(): FixtureFileEntry[] {
  const { fixtures } = JSON.parse(readFileSync(new URL('../data/story.json', import.meta.url), 'utf8')) as {
    fixtures: FixtureFileEntry[]
  }
  const afterHandoff = fixtures.flatMap(({ match: { hasToolResult, ...match }, response }) =>
    hasToolResult === false ? [{ match: { ...match, toolResultContains: 'Handed off to' }, response }] : [],
  )
  return [...afterHandoff, ...fixtures]
}
