import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Agent } from '@allium/core'
import { manualClock, scriptedModel } from '@allium/testing'
import { expect, onTestFinished, test } from 'vitest'
import { createClient } from '../src/client.ts'
import { agentOf, gated, listen, silent } from './kit.ts'

const headers = () => ({ authorization: 'acme/ann' })
const page = { body: '<html>Bad Gateway</html>', headers: {} as Record<string, string> }

test.each([502, 503, 504])('a run goes on after a deploy behind a proxy that answers %i meanwhile', async (status) => {
  const { model, text, end } = gated()
  const proxy = await proxyTo(new Agent({ model, logger: silent }), ['cut', { status, ...page }, { status, ...page }])
  const run = createClient<Agent>({ url: proxy.url, headers, backoff: async () => {} })
    .session('a')
    .run('Hi')
  text('One ')
  const types: string[] = []
  for await (const event of run) {
    types.push(event.type)
    if (types.filter((type) => type === 'text-delta').length === 1) text('two.')
    if (types.at(-1) === 'text-delta') end()
  }
  expect((await run).text).toBe('One two.')
  expect(types.filter((type) => type !== 'text-delta')).toEqual([...begin, ...ending])
  expect(proxy.requests).toEqual(['POST', 'GET', 'GET', 'GET'])
})

test.each([502, 503, 504])('a run is requested again after %i, and runs once', async (status) => {
  const model = scriptedModel(['Hello.'])
  const proxy = await proxyTo(new Agent({ model, logger: silent }), [{ status, ...page }, 'lose', 'lose'])
  const run = createClient<Agent>({ url: proxy.url, headers, backoff: async () => {} })
    .session('a')
    .run('Hi')
  expect([(await run).text, model.requests.length]).toEqual(['Hello.', 1])
  expect(proxy.requests).toEqual(['POST', 'POST', 'POST', 'POST'])
})

test.each(['{"code":502}', '{"code":"BAD_GATEWAY"}', '{"message":"no upstream"}', 'null'])(
  'a run is requested again after the JSON of a proxy: %s',
  async (body) => {
    const proxy = await proxyTo(agentOf(['Hello.']), [{ status: 502, body, headers: {} }])
    const run = createClient<Agent>({ url: proxy.url, headers, backoff: async () => {} })
      .session('a')
      .run('Hi')
    expect([(await run).text, proxy.requests]).toEqual(['Hello.', ['POST', 'POST']])
  },
)

test.each(['null', '{"code":["run.busy"],"message":{"text":"No."}}', '{"code":1.5,"message":null}'])(
  'an error with the JSON of a proxy has a code, a text and its status, and is not repeated: %s',
  async (body) => {
    const proxy = await proxyTo(agentOf([]), Array(9).fill({ status: 403, body, headers: {} }))
    const session = createClient<Agent>({ url: proxy.url, headers, backoff: async () => {} }).session('a')
    const error = { name: 'ClientError', code: 'server.failed', status: 403, message: 'The server answered with 403.' }
    await expect(session.history()).rejects.toMatchObject(error)
    await expect(session.run('Hi')).rejects.toMatchObject(error)
    expect(proxy.requests).toHaveLength(2)
  },
)

test('the history is requested again while the server cannot be reached', async () => {
  const proxy = await proxyTo(agentOf(['Hello.']), ['pass', { status: 502, ...page }, 'lose'])
  const session = createClient<Agent>({ url: proxy.url, headers, backoff: async () => {} }).session('a')
  await session.run('Hi')
  expect((await session.history()).messages).toHaveLength(2)
  expect(proxy.requests).toEqual(['POST', 'GET', 'GET', 'GET'])
})

test('a proxy that never reaches the server is reported after all attempts, with its status', async () => {
  const proxy = await proxyTo(agentOf([]), Array(9).fill({ status: 502, ...page }))
  const run = createClient<Agent>({ url: proxy.url, headers, backoff: async () => {}, attempts: 3 })
    .session('a')
    .run('Hi')
  await expect(run).rejects.toMatchObject({ name: 'ClientError', code: 'server.failed', status: 502 })
  expect(proxy.requests).toHaveLength(3)
})

test('the error of a run is no lost connection: a model that failed is not asked again', async () => {
  const failed = Object.assign(new Error('Overloaded'), { statusCode: 500 })
  const proxy = await proxyTo(agentOf([{ error: failed }]), [])
  const run = createClient<Agent>({ url: proxy.url, headers, backoff: async () => {} })
    .session('a')
    .run('Hi')
  await expect(run).rejects.toMatchObject({ code: 'model.failed', status: 502 })
  expect(proxy.requests).toHaveLength(1)
})

test('a server that drains is asked again after its Retry-After, and no sooner', async () => {
  const clock = manualClock()
  const draining = { status: 503, body: '{"code":"server.draining","message":"…"}', headers: { 'retry-after': '7' } }
  const proxy = await proxyTo(agentOf(['Hello.']), [draining])
  const run = createClient<Agent>({ url: proxy.url, headers, clock }).session('a').run('Hi')
  const answer = run.then(({ text }) => text)
  await expect.poll(() => clock.pending).toBe(1)
  await clock.advance(6999)
  expect(proxy.requests).toHaveLength(1)
  await clock.advance(1)
  expect(await answer).toBe('Hello.')
})

test('an hour of Retry-After is for the application: the client does not wait for it', async () => {
  const closed = { ...page, status: 503, headers: { 'retry-after': '3600' } }
  const proxy = await proxyTo(agentOf([]), [closed, closed])
  const run = createClient<Agent>({ url: proxy.url, headers }).session('a').run('Hi')
  await expect(run).rejects.toMatchObject({ status: 503, retryAfter: 3_600_000 })
  expect(proxy.requests).toHaveLength(1)
})

test('a connection that stays open in silence is given up after three heartbeats of the server', async () => {
  const clock = manualClock()
  const { model, text, end } = gated()
  const proxy = await proxyTo(new Agent({ model, logger: silent }), ['freeze'], 60_000)
  const run = createClient<Agent>({ url: proxy.url, headers, clock, backoff: async () => {} })
    .session('a')
    .run('Hi')
  text('One ')
  for await (const { type } of run) if (type === 'text-delta') break
  text('two.')
  end()
  await clock.advance(179_999)
  expect(proxy.requests).toEqual(['POST'])
  await clock.advance(1)
  expect((await run).text).toBe('One two.')
  expect(proxy.requests).toEqual(['POST', 'GET'])
})

test('a stream begins with the heartbeat of its server', async () => {
  const { url } = await listen(agentOf(['One.', 'Two.']), { heartbeat: 1234, openai: true })
  const init = { method: 'POST', headers: { ...headers(), 'content-type': 'application/json' } }
  for (const [path, body] of [
    ['/sessions/a/runs', { input: 'Hi' }],
    ['/v1/responses', { model: 'agent', input: 'Hi', stream: true }],
  ] as const) {
    const accept = { ...init.headers, accept: 'text/event-stream' }
    const response = await fetch(url + path, { ...init, headers: accept, body: JSON.stringify(body) })
    expect((await response.text()).split('\n\n')[0]).toBe(': heartbeat 1234')
  }
})

const begin = ['turn:start', 'step:start']
const ending = ['finish', 'step:end', 'turn:end']

/**
 * What a proxy does with a request: it cuts the connection after the first text, or stops forwarding there, or loses the answer, or
 * answers itself.
 */
type Act = 'pass' | 'cut' | 'freeze' | 'lose' | { status: number; body: string; headers: Record<string, string> }

/** A proxy in front of a server with an agent. It follows the acts, one for each request, and then passes everything. */
async function proxyTo(agent: Agent, acts: readonly Act[], heartbeat = 60_000) {
  const { url } = await listen(agent, { heartbeat })
  const requests: string[] = []
  const proxy = createServer((incoming, outgoing) => {
    const act = acts[requests.push(incoming.method ?? '') - 1] ?? 'pass'
    if (typeof act === 'object') outgoing.writeHead(act.status, act.headers).end(act.body)
    else forward(url, incoming, outgoing, act)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, requests }
}

function forward(url: string, incoming: IncomingMessage, outgoing: ServerResponse, act: Act): void {
  const { method, headers } = incoming
  const forwarded = request(url + incoming.url, { method, headers }, (answer) => {
    if (act === 'lose') return void answer.resume().once('end', () => outgoing.destroy())
    outgoing.writeHead(answer.statusCode ?? 0, answer.headers)
    let isOver = false
    answer.on('data', (chunk) => {
      if (isOver) return
      outgoing.write(chunk, () => isOver && act === 'cut' && outgoing.destroy())
      isOver = act !== 'pass' && String(chunk).includes('text-delta')
    })
    answer.on('end', () => isOver || outgoing.end())
  })
  forwarded.on('error', () => outgoing.destroy())
  outgoing.on('close', () => forwarded.destroy())
  incoming.pipe(forwarded)
}
