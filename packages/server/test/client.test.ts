import { connect, createServer, type Socket } from 'node:net'
import { Agent, defineTool, type Model } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import * as mini from 'zod/mini'
import { ClientError, createClient } from '../src/client.ts'
import { agentOf, gated, listen, silent } from './kit.ts'

const headers = () => ({ authorization: 'acme/ann' })
const at = (url: string) => createClient<Agent>({ url, headers, backoff: async () => {} })

const refund = defineTool({
  name: 'refund',
  description: 'Gives money back.',
  jsonSchema: { type: 'object' },
  requireApproval: true,
  execute: () => 'Refunded.',
})

test('a run is awaited, or read, or both, and is asked for once', async () => {
  const { url } = await listen(agentOf(['One.', 'Two.']))
  const session = at(url).session()
  const run = session.run('Hi')
  const types: string[] = []
  for await (const { type } of run) types.push(type)
  expect([types[0], types.at(-1)]).toEqual(['turn:start', 'turn:end'])
  expect(await run).toMatchObject({ status: 'completed', text: 'One.', sessionId: session.id, pending: [] })
  expect((await session.run('Hi')).text).toBe('Two.')
})

test('an answer has the form of a JSON Schema beside its schema, or alone', async () => {
  const { url } = await listen(agentOf(['{"city":"Oslo"}', '{"city":"Oslo"}']))
  const schema = mini.object({ city: mini.string() })
  const jsonSchema = z.toJSONSchema(schema)
  const session = at(url).session()
  expect((await session.run('Hi', { output: { schema, jsonSchema } })).output?.city).toBe('Oslo')
  expect((await session.run('Hi', { output: { jsonSchema } })).output).toEqual({ city: 'Oslo' })
  expect(() => session.run('Hi', { output: schema })).toThrow(expect.objectContaining({ code: 'run.options' }))
})

test('a call that waits is approved, or denied, with its token', async () => {
  const steps = [{ toolCalls: [{ name: 'refund', args: { cents: 5 } }] }, 'Done.']
  const { url } = await listen(agentOf([...steps, ...steps], { tools: [refund], approvals: { secret: 'of the test' } }))
  const client = at(url)
  const session = client.session('a')
  const [call] = (await session.run('Refund it.')).pending
  expect((await client.approvals()).items).toEqual([expect.objectContaining({ sessionId: 'a', args: { cents: 5 } })])
  expect((await session.approve(call as never)).text).toBe('Done.')
  const [other] = (await session.run('Refund it.')).pending
  expect((await session.deny(other as never, 'No.')).status).toBe('completed')
})

test('sessions are listed, read, forked and deleted, and what runs is stopped', async () => {
  const { model, text } = gated()
  const { url } = await listen(new Agent({ model, logger: silent }))
  const client = at(url)
  const session = client.session('a')
  const run = session.run('Hi')
  text('One')
  for await (const { type } of run) if (type === 'text-delta') await session.stop()
  expect((await run).status).toBe('aborted')
  expect((await session.history()).messages[0]).toMatchObject({ role: 'user' })
  expect(await session.usage()).toEqual({ tokens: null, cost: null, models: null })
  const { id } = await session.fork({ id: 'b' })
  await session.delete()
  expect([id, (await client.list()).items.map((one) => one.id)]).toEqual(['b', ['b']])
})

test.each([
  ['as it is', '', (url: string) => url],
  ['below a path of its own', '/api', (url: string) => `${url}/api`],
  ['through a proxy that takes a path off', '', () => '/ai'],
])('a file of a history has a link that opens: the server is reached %s', async (_, base, reach) => {
  const { url } = await listen({ one: agentOf(['A cat.'], { name: 'one' }) }, base === '' ? {} : { base })
  const asked: string[] = []
  const proxied = (to: string, init?: RequestInit) => fetch(to.replace(/^\/ai/, url), init)
  const client = createClient<{ one: Agent }>({ url: reach(url), agent: 'one', headers, fetch: proxied })
  const session = client.session('a/files/b $&')
  const content = [
    { type: 'image', data: 'aGVsbG8=', mediaType: 'image/png' },
    { type: 'text', text: 'See:' },
  ] as const
  await session.run(content)
  for (const { parts } of (await session.history()).messages)
    for (const part of parts) if (part.type === 'file') asked.push(String(part.url))
  expect(asked).toEqual([expect.stringContaining(reach(url))])
  expect(await (await proxied(asked[0] ?? '', { headers: headers() })).text()).toBe('hello')
})

test('what is refused has a code, a status and the id of the request; what fails in the stream has a code', async () => {
  const failed = Object.assign(new Error('sk-1'), { statusCode: 500 })
  const { url } = await listen(agentOf([{ text: 'One', error: failed }]))
  const missing = await at(url)
    .session('none')
    .history()
    .catch((error: unknown) => error)
  expect(missing).toBeInstanceOf(ClientError)
  expect(missing).toMatchObject({ code: 'session.not_found', status: 404, requestId: expect.any(String) })
  const run = at(url).session('a').run('Hi')
  let isOver = false
  const settled = run.finally(() => (isOver = true)).catch((error: unknown) => error)
  expect([await settled, isOver]).toEqual([await run.catch((error: unknown) => error), true])
  await expect(run).rejects.toMatchObject({ name: 'ClientError', code: 'model.failed', status: 502 })
})

test('of several agents the one that is named answers', async () => {
  const agents = { a: agentOf(['A.'], { name: 'a' }), b: agentOf(['B.'], { name: 'b' }) }
  const { url } = await listen(agents)
  expect((await createClient<typeof agents>({ url, headers, agent: 'b' }).session().run('Hi')).text).toBe('B.')
})

test.each(Array.from({ length: 12 }, (_, seed) => seed))(
  'through a connection that is cut again and again nothing is lost, and nothing comes twice (seed %i)',
  async (seed) => {
    const answer = Array.from({ length: 60 }, (_, at) => `word-${at} `)
    const scripted = scriptedModel([{ text: answer.join('') }])
    const { url } = await listen(new Agent({ model: inTicks(scripted), logger: silent }))
    const cutting = await cutter(new URL(url), seed)
    const client = createClient<Agent>({ url: cutting.url, headers, backoff: async () => {}, attempts: 50 })
    const run = client.session('a').run('Hi')
    let text = ''
    const types: string[] = []
    for await (const event of run) {
      types.push(event.type)
      if (event.type === 'text-delta') text += (event as { delta: string }).delta
    }
    expect(text).toBe(answer.join(''))
    expect(types.filter((type) => type === 'turn:start' || type === 'turn:end')).toEqual(['turn:start', 'turn:end'])
    expect([scripted.requests.length, (await run).text]).toEqual([1, answer.join('')])
    expect(cutting.cuts()).toBeGreaterThan(0)
  },
)

/** Chunks of one tick of the event loop are merged, so each gets its own. */
function inTicks(model: Model): Model {
  return {
    id: model.id,
    async *stream(request) {
      for await (const chunk of model.stream(request)) {
        yield chunk
        await new Promise(setImmediate)
      }
    },
  }
}

/** A proxy that cuts connections after some bytes of the answer: by chance, from a seed. */
async function cutter(to: URL, seed: number): Promise<{ url: string; cuts(): number }> {
  const random = mulberry(seed)
  let [cuts, left] = [0, 8]
  const sockets = new Set<Socket>()
  const proxy = createServer((client) => {
    const server = connect(Number(to.port), to.hostname)
    for (const one of [client, server]) sockets.add(one.on('error', () => {}))
    let bytes = left-- > 0 ? Math.floor(random() * 2500) : Number.POSITIVE_INFINITY
    client.pipe(server)
    server.on('data', (chunk) => {
      client.write(chunk.subarray(0, Math.max(0, bytes)))
      bytes -= chunk.length
      if (bytes >= 0) return
      cuts++
      if (random() < 0.5) client.destroy()
      else client.end(() => client.destroy())
      server.destroy()
    })
    server.on('end', () => client.end())
    client.on('close', () => server.destroy())
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const one of sockets) one.destroy()
    proxy.close()
  })
  const { port } = proxy.address() as { port: number }
  return { url: `http://127.0.0.1:${port}`, cuts: () => cuts }
}

function mulberry(seed: number): () => number {
  let state = seed + 0x6d2b79f5
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

test.each(['.', '..', '', '\ud800', 'x'.repeat(257)])('a name such as %j is refused, and nothing is asked', (name) => {
  const asked: string[] = []
  const fetch = async (url: string) => Response.json({ count: asked.push(url) })
  const client = createClient<Agent>({ url: 'http://localhost/api', fetch })
  expect(() => client.session(name)).toThrow(expect.objectContaining({ code: 'session.invalid_id' }))
  expect(() => createClient<Record<string, Agent>>({ url: 'http://localhost/api', fetch, agent: name })).toThrow(
    ClientError,
  )
  expect(asked).toEqual([])
})
