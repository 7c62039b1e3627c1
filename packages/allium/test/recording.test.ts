import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createOpenAI } from '@ai-sdk/openai'
import { type Cassette, recordModel, replayModel } from '@allium/testing'
import { expect, it, onTestFinished } from 'vitest'
import { Agent, fromAiSdk } from '../src/index.ts'
import * as models from '../src/model.ts'

const apiKey = 'sk-planted-secret-4711'

it('a recording of a provider over the wire replays without it: the 429, the wait it asks for, the tool, the answer', async () => {
  const { model, served } = await provider([tooMany, toolCall, answer])
  const recorder = recordModel(model)
  const live = await run(recorder)
  expect(live).toMatchObject({ text: 'It is sunny.', waits: [7] })

  const cassette: Cassette = JSON.parse(JSON.stringify(recorder.cassette))
  const replayed = replayModel(cassette)
  expect(await run(replayed)).toEqual(live)
  replayed.done()
  expect(served()).toBe(3)
  expect(JSON.stringify(cassette)).not.toMatch(/planted/)
})

async function run(model: Parameters<typeof recordModel>[0]) {
  const weather = {
    name: 'weather',
    description: 'The weather of a city',
    jsonSchema: { type: 'object' },
    execute: () => 'sunny',
  }
  const agent = new Agent({ model, tools: [weather] }).use(models.retry({ delay: 1 }))
  const waits: number[] = []
  agent.on('model:retry', ({ delay }) => waits.push(delay))
  const { text, usage, messages } = await agent.run('Oslo?', { settings: { headers: { 'x-tenant-key': 'planted' } } })
  return { text, usage, messages, waits }
}

/** A server that speaks OpenAI's chat format, one answer for each request, and the model that calls it. */
async function provider(answers: RequestListener[]) {
  let served = 0
  const server = createServer((request, response) => answers[served++]?.(request, response)).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  return { model: fromAiSdk(createOpenAI({ apiKey, baseURL }).chat('gpt-4o')), served: () => served }
}

const tooMany: RequestListener = (_, response) => {
  response.writeHead(429, { 'retry-after-ms': '7', 'content-type': 'application/json' })
  response.end(JSON.stringify({ error: { message: `Too many requests for ${apiKey}.`, type: 'rate_limit' } }))
}
const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }
const toolCall = stream(chunk({ tool_calls: [call] }), chunk({}, 'tool_calls'))
const answer = stream(chunk({ content: 'It is ' }), chunk({ content: 'sunny.' }), chunk({}, 'stop'))

function stream(...events: object[]): RequestListener {
  const usage = { id: 'c', choices: [], usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 } }
  const lines = [...events, usage].map((event) => `data: ${JSON.stringify(event)}\n\n`)
  return (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(`${lines.join('')}data: [DONE]\n\n`)
  }
}

function chunk(delta: object, finish_reason: string | null = null): object {
  return { id: 'c', created: 1, model: 'gpt-4o', choices: [{ index: 0, delta, finish_reason }] }
}
