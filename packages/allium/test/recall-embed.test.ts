import { createServer, type IncomingMessage } from 'node:http'
import { createOpenAI } from '@ai-sdk/openai'
import { Agent, guard, memoryStore, observe } from 'allium'
import * as memory from 'allium/memory'
import { search } from 'allium/search'
import { manualClock, type ScriptedStep, scriptedModel } from 'allium/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

const model = 'openai/text-embedding-3-small'
const ada = { tenantId: 'acme', userId: 'ada' }
const question = 'news vehicle repair'
/** By its tool, before each turn, and as a source of `tools.search`. */
const ways = ['recall', 'turn', 'search'] as const
type Way = (typeof ways)[number]

/** A server that speaks `/v1/embeddings`, and knows that a vehicle is an automobile. */
const requests: { model: string; input: string[] }[] = []
const server = createServer(async (request, response) => {
  const body = JSON.parse(await textOf(request)) as { model: string; input: string[] }
  requests.push(body)
  const data = body.input.map((text, index) => ({
    object: 'embedding',
    index,
    embedding: [/vehicle|automobile/.test(text) ? 1 : 0, /alpaca/.test(text) ? 1 : 0, 0.1],
  }))
  response.setHeader('content-type', 'application/json')
  response.end(
    JSON.stringify({ object: 'list', model: body.model, data, usage: { prompt_tokens: 500, total_tokens: 500 } }),
  )
})
let baseURL = ''
beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  baseURL = `http://127.0.0.1:${(server.address() as { port: number }).port}/v1`
})
beforeEach(() => void requests.splice(0))
afterAll(() => server.close())

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/** Agents of one store, one for each conversation. */
function scene(way: Way) {
  const clock = manualClock(Date.UTC(2026, 4, 4))
  const store = memoryStore({ clock })
  const embed = createOpenAI({ baseURL, apiKey: 'test' }).embeddingModel('text-embedding-3-small')
  const agentOf = (steps: readonly ScriptedStep[]) => {
    const scripted = scriptedModel(steps)
    const agent = new Agent({
      name: 'helper',
      model: scripted,
      clock,
      store: { sessions: store, passages: store.passages },
    })
    const every = way === 'turn' ? { every: 'turn' as const } : { tool: way === 'recall' }
    const found = way === 'search' ? [search({ in: [memory.recalled], limit: 1 })] : []
    return { agent, scripted, recall: [...memory.recall({ embed, limit: 1, ...every }), ...found] }
  }
  const say = async (id: string, text: string) => {
    await agentOf(['Ok.']).agent.use(memory.recall()).session({ id, principal: ada }).run(text)
  }
  const steps: ScriptedStep[] = [...(way === 'turn' ? [] : [{ toolCalls: [{ name: way, args: { question } }] }]), 'Ok.']
  return { store, say, today: () => agentOf(steps) }
}

describe('memory.recall with an embedding model of the AI SDK, over HTTP', () => {
  it.each(ways)('orders by meaning, and sends each text once, by: %s', async (way) => {
    const { say, today } = scene(way)
    await say('car', 'The automobile news of today')
    await say('alpaca', 'The alpaca news of today')
    const { agent, recall, scripted } = today()
    await agent.use(recall).session({ id: 'today', principal: ada }).run(question)
    expect(JSON.stringify(scripted.requests.at(-1)?.messages)).toContain('The automobile news')
    expect(requests.map((one) => one.model)).toEqual(['text-embedding-3-small'])
    expect(requests[0]?.input[0]).toBe(question)
  })

  it.each(ways)('charges its tokens to the budget and to usage records, once, by: %s', async (way) => {
    const { say, today, store } = scene(way)
    await say('car', 'The automobile news of today')
    const { agent, recall } = today()
    const metered = agent
      .use(observe.usage({ record: true }))
      .use(guard.budget({ limit: 10_000, unit: 'tokens' }))
      .use(recall)
    const { usage, state } = await metered.session({ id: 'today', principal: ada }).run(question)
    const turn = await store.find({ tenant: 'acme', owner: 'ada', agent: 'helper', sessionId: 'today' }, { version: 1 })
    const records = (turn?.records ?? []).map(({ data }) => data as { model: string; usage: { inputTokens: number } })
    const embedded = records.filter((one) => one.model === model)
    expect(embedded.map((one) => one.usage.inputTokens)).toEqual([500])
    expect(state['observe:usage:models'][model]).toMatchObject({ inputTokens: 500, outputTokens: 0, calls: 1 })
    expect(state['guard:budget:spent']).toBe(usage.inputTokens + usage.outputTokens)
    expect([usage.calls, requests.length]).toEqual([records.length, 1])
  })

  it.each(ways)('makes no call that the budget cannot pay for, by: %s', async (way) => {
    const { say, today } = scene(way)
    // Each of them has 500 tokens.
    for (const id of ['a', 'b', 'c', 'd']) await say(id, `The automobile news of today ${'and tomorrow '.repeat(500)}`)
    const { agent, recall } = today()
    const limited = agent.use(guard.budget({ limit: 1_500, unit: 'tokens' })).use(recall)
    const { status } = await limited.session({ id: 'today', principal: ada }).run(question)
    expect([status, requests]).toEqual(['blocked', []])
  })

  it.each(ways)('sends no personal data that guard.pii keeps from the model, by: %s', async (way) => {
    const { say, today } = scene(way)
    await say('car', 'The automobile news of today')
    const { agent, scripted, recall } = today()
    agent.use(guard.pii({ types: ['email'] })).use(recall)
    await agent.session({ id: 'today', principal: ada }).run('news of mina@home.test')
    expect(JSON.stringify([requests, scripted.requests])).not.toContain('mina@home.test')
    expect(requests.length).toBe(1)
  })
})
