import { getEventListeners } from 'node:events'
import type { ServerResponse } from 'node:http'
import { fileURLToPath } from 'node:url'
import { Agent, type Clock, type Logger, systemClock } from '@allium/core'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { Link } from '../src/mcp/link.ts'
import { Secrets } from '../src/mcp/secrets.ts'
import { ToolLists } from '../src/mcp/tool-lists.ts'
import { type McpLayerOptions, type McpServer, mcp } from '../src/mcp.ts'
import { httpFixture } from './mcp/http.ts'
import { endless, json, rawServer } from './mcp/raw.ts'

const maxBytes = 100_000
const large = 'x'.repeat(maxBytes)
/** Far less than an endless body, and more than the sockets of both sides hold. */
const most = 30_000_000

function agentWith(server: McpServer, options: Partial<McpLayerOptions> & { clock?: Clock } = {}) {
  const { clock, ...rest } = options
  const log: string[] = []
  const logger: Logger = { warn: (line) => log.push(line), error: (line) => log.push(line) }
  const steps: ScriptedStep[] = []
  const model = scriptedModel(steps)
  const agent = new Agent({ model, logger, ...(clock && { clock }) }).use(
    mcp({ name: 'srv', maxBytes, ...rest, ...server } as never),
  )
  onTestFinished(() => agent.dispose())
  const call = async (name = 'read') => {
    steps.push({ toolCalls: [{ name: `srv__${name}`, args: {} }] }, 'Done.')
    return (await agent.run('go')).toolCalls[0]?.result
  }
  return { agent, model, log, call }
}

const event = (id: unknown, result: object) => `data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`
const stream = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' })
const content = (text: string) => ({ content: [{ type: 'text', text }] })

/** How a server sends a result: as JSON, as an event, and without an end. */
const ways: [name: string, send: (response: ServerResponse, id: unknown) => void][] = [
  ['as JSON', (response, id) => json(response, { jsonrpc: '2.0', id, result: content(large) })],
  ['as an event', (response, id) => stream(response).end(event(id, content(large)))],
  [
    'as an event that can be resumed',
    (response, id) => stream(response).end(`id: 1\ndata:\n\n${event(id, content(large))}`),
  ],
  [
    'as JSON that never ends',
    (response) => endless(response.writeHead(200, { 'content-type': 'application/json' }), large),
  ],
  ['as an event that never ends', (response) => endless(stream(response), `data: ${large}\r\n`)],
  ['as a line that never ends', (response) => endless(stream(response), large)],
]

describe('A result that is too large', () => {
  test.each(ways)('is an error result, and is not read to its end: %s', async (_, send) => {
    let calls = 0
    const { url, written } = await rawServer(({ method, id }, response) => {
      if (method !== 'tools/call' || ++calls > 1) return false
      send(response, id)
      return true
    })
    const { call, model } = agentWith({ url })
    expect(await call()).toMatchObject({ isError: true, error: { code: 'mcp.too_large' } })
    expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toMatch(/more than 100000 bytes.*maxBytes/)
    expect(written.bytes).toBeLessThan(most)
    expect(await call()).toMatchObject({ content: 'read' })
  })

  test('is an error result, from a child', async () => {
    const child = fileURLToPath(new URL('./mcp/stdio.child.mjs', import.meta.url))
    // A tool of the child tells its variables.
    const server = { command: process.execPath, args: [child], env: { LARGE: large } }
    const { call } = agentWith(server, { reconnect: { delay: 10 } })
    expect(await call('env')).toMatchObject({ isError: true, error: { code: 'mcp.too_large' } })
    expect((await call('pid'))?.isError).toBeUndefined()
  })

  test('is not too large where maxBytes allows it; many small events are not one', async () => {
    const { url } = await rawServer(({ method, id }, response) => {
      if (method !== 'tools/call') return false
      stream(response)
      const note = JSON.stringify({
        jsonrpc: '2.0',
        method: 'notifications/message',
        params: { level: 'info', data: large },
      })
      for (let i = 0; i < 5; i++) response.write(`data: ${note}\r\n\r\n`)
      response.end(event(id, content(large)))
      return true
    })
    expect((await agentWith({ url }, { maxBytes: 110_000 }).call())?.content).toBe(large)
  })
})

test('An error body without an end is not read to its end', async () => {
  const { url, written } = await rawServer(({ method }, response) => {
    if (method !== 'tools/call') return false
    endless(response.writeHead(500), large)
    return true
  })
  const result = await agentWith({ url }).call()
  expect([result?.content, result?.error]).toMatchObject([expect.stringContaining('500'), { code: 'mcp.refused' }])
  expect(written.bytes).toBeLessThan(most)
})

test.each([
  ['an event', `data: ${large}\r\n`],
  ['a line', large],
])('The event stream of the endpoint is not read to its end: %s that never ends', async (_, piece) => {
  let closed = () => {}
  const isClosed = new Promise<void>((resolve) => (closed = resolve))
  const { url, written } = await rawServer(({ method }, response) => {
    if (method !== 'GET') return false
    endless(stream(response.on('close', closed)), piece)
    return true
  })
  const { call } = agentWith({ url })
  expect(await call()).toMatchObject({ content: 'read' })
  await isClosed
  expect(written.bytes).toBeLessThan(most)
  expect(await call()).toMatchObject({ content: 'read' })
})

describe('A list of tools', () => {
  const listing = (tools: (page: number) => object[]) =>
    rawServer(({ method, id, params }, response) => {
      if (method !== 'tools/list') return false
      const page = Number(params?.cursor ?? 0)
      json(response, { jsonrpc: '2.0', id, result: { tools: tools(page), nextCursor: String(page + 1) } })
      return true
    })
  const tool = (name: string, description = '') => ({ name, description, inputSchema: { type: 'object' } })

  test('with a page that is too large fails init', async () => {
    const { url } = await listing(() => [tool('a', large)])
    await expect(agentWith({ url }).agent.init()).rejects.toMatchObject({ code: 'mcp.too_large' })
  })

  test('that goes on and on is cut, and the log names the limits', async () => {
    const { url } = await listing((page) => [tool(`t${page}`, 'x'.repeat(30_000))])
    const { call, model, log } = agentWith({ url })
    await call('t0')
    expect(model.requests[0]?.tools).toHaveLength(3)
    expect(log).toEqual([expect.stringContaining('gets the first 3 tools')])
  })

  test('of more than a thousand tools is cut', async () => {
    const { url } = await listing((page) => Array.from({ length: 400 }, (_, i) => tool(`t${page}_${i}`)))
    const { call, model } = agentWith({ url }, { maxBytes: 1_000_000 })
    await call('t0_0')
    expect(model.requests[0]?.tools).toHaveLength(1_000)
  })
})

describe('A connection', () => {
  test('leaves no listener on the signal of its agent, however often it is made anew', async () => {
    const { url, stop } = await httpFixture()
    onTestFinished(stop)
    const { signal } = new AbortController()
    const [logger, clock] = [{ warn() {}, error() {} }, systemClock]
    const server = { url }
    const setup = { name: 'srv', server, secrets: new Secrets(server), connectTimeout: 10_000, maxBytes, logger, clock }
    for (let i = 0; i < 3; i++) {
      const link = await Link.to(
        { ...setup, lists: new ToolLists(), canElicit: true, canSample: false, owner: () => {}, onTools: () => {} },
        signal,
      )
      await link.close()
    }
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('keeps no process alive while it waits for a server that is gone', async () => {
    const { url, stop } = await httpFixture()
    const waits: { ms: number; idle: boolean | undefined }[] = []
    const clock: Clock = {
      ...systemClock,
      after(ms, fn, options = {}) {
        waits.push({ ms, idle: options.idle })
        return systemClock.after(ms, fn, options)
      },
    }
    const { agent } = agentWith({ url }, { clock, reconnect: { delay: 25 } })
    await agent.init()
    await stop()
    await vi.waitFor(
      () => expect(waits.filter(({ ms }) => ms >= 25 && ms % 25 === 0).length).toBeGreaterThan(1),
      15_000,
    )
    expect(waits.filter(({ idle }) => idle !== true)).toEqual([])
  })
})
