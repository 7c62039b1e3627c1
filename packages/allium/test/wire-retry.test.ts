import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createOpenAI } from '@ai-sdk/openai'
import { afterEach, describe, expect, it } from 'vitest'
import * as guard from '../src/guard.ts'
import { Agent, fromAiSdk } from '../src/index.ts'
import * as model from '../src/model.ts'
import * as observe from '../src/observe.ts'

describe('model.retry over the wire of a provider', () => {
  it('waits as a 429 says, then answers; the failed call costs nothing', async () => {
    const { agent, served } = await scene([refuse(429, { 'retry-after-ms': '7' }), answer])
    const waits: number[] = []
    agent.on('model:retry', ({ delay }) => waits.push(delay))
    const { text, state } = await agent.run('hello')
    expect(text).toBe('Hi there')
    expect(waits).toEqual([7])
    expect(served()).toBe(2)
    expect(state['observe:usage:tokens']).toMatchObject({ inputTokens: 9, outputTokens: 2, calls: 2 })
    expect(state['guard:budget:spent']).toBeCloseTo((9 * 2.5 + 2 * 10) / 1e6, 12)
  })

  it.each([500, 502, 503, 529])('repeats a %i whose body is a page', async (status) => {
    const { agent, served } = await scene([refuse(status, { 'content-type': 'text/html' }), answer])
    expect((await agent.run('hello')).text).toBe('Hi there')
    expect(served()).toBe(2)
  })

  it.each([400, 401, 403, 404])('does not repeat a %i', async (status) => {
    const { agent, served } = await scene([refuse(status)])
    await expect(agent.run('hello')).rejects.toMatchObject({ status })
    expect(served()).toBe(1)
  })

  it('throws the last error with its status once its attempts are used', async () => {
    const { agent, served } = await scene([refuse(503), refuse(503), refuse(503)])
    await expect(agent.run('hello')).rejects.toMatchObject({ status: 503 })
    expect(served()).toBe(3)
  })

  it('repeats a call whose connection is cut before the headers', async () => {
    const { agent } = await scene([(request) => request.socket.destroy(), answer])
    expect((await agent.run('hello')).text).toBe('Hi there')
  })

  it('repeats a call that is cut in mid-stream, and shows no text twice', async () => {
    const { agent } = await scene([cut, answer])
    let shown = ''
    for await (const event of agent.run('hello')) {
      if (event.type === 'text-delta') shown += event.delta
      if (event.type === 'model:reset') shown = ''
    }
    expect(shown).toBe('Hi there')
  })
})

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** An agent whose provider is a server that handles one request after the other as listed. */
async function scene(handlers: RequestListener[]) {
  let served = 0
  const server = createServer((request, response) => {
    request.resume()
    handlers[served++]?.(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const openai = createOpenAI({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: 'none' })
  const agent = new Agent({ model: fromAiSdk(openai.chat('gpt-4o')) })
    .use(model.retry({ delay: 1 }))
    .use(guard.budget({ limit: 1 }))
    .use(observe.usage())
  return { agent, served: () => served }
}

function refuse(status: number, headers: Record<string, string> = {}): RequestListener {
  return (_, response) => void response.writeHead(status, headers).end('<html>no</html>')
}

const answer: RequestListener = (_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of [delta('Hi'), delta(' there'), finish]) response.write(sse(event))
  response.end('data: [DONE]\n\n')
}

const cut: RequestListener = (_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(sse(delta('Hi')), () => response.destroy())
}

const finish = {
  choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
  usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 },
}

function delta(content: string) {
  return { choices: [{ index: 0, delta: { content } }] }
}

function sse(event: object): string {
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 0, model: 'gpt-4o', ...event })}\n\n`
}
