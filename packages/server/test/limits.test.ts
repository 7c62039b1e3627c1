import { Agent } from '@allium/core'
import { describe, expect, test } from 'vitest'
import { server } from '../src/index.ts'
import { agentOf, ask, asStream, eventsOf, gated, kinds, listen, principal, silent } from './kit.ts'

/** Each of its answers goes on until it is aborted. */
const hanging = () => agentOf(Array.from({ length: 8 }, () => ({ text: 'A part', stall: true })))
const run = (url: string, id: string, as = 'acme/ann') =>
  ask(`${url}/sessions/${id}/runs`, { body: { input: 'Hi' }, headers: asStream, as })
const codeOf = async (response: Response) => [response.status, ((await response.json()) as { code: string }).code]

describe.each(kinds)('limits of runs %s', (_, listen) => {
  test('a user with as many runs as one may have is told to wait, and another one runs', async () => {
    const { url } = await listen(hanging(), { limits: { runs: { perUser: 2 } }, headersAfter: 0 })
    for (const id of ['a', 'b']) expect((await run(url, id)).status).toBe(200)
    const refused = await run(url, 'c')
    expect([refused.headers.get('retry-after'), await codeOf(refused)]).toEqual(['1', [429, 'server.limit']])
    expect((await run(url, 'a', 'acme/bob')).status).toBe(200)
    await ask(`${url}/sessions/a/stop`, { method: 'POST' })
    for await (const { event } of eventsOf(await ask(`${url}/sessions/a/events`))) if (event === 'turn:end') break
    await expect.poll(async () => (await run(url, 'c')).status).toBe(200)
  })

  test('a user with as many streams as one may have opens no more, and begins no run for one', async () => {
    const { url } = await listen(hanging(), { limits: { streams: { perUser: 2 } }, headersAfter: 0, uiStream: 7 })
    await run(url, 'a')
    const second = await ask(`${url}/sessions/a/events`)
    for (const path of ['sessions/a/events', 'chat/a/stream'])
      expect(await codeOf(await ask(`${url}/${path}`))).toEqual([429, 'server.limit'])
    expect(await codeOf(await run(url, 'b'))).toEqual([429, 'server.limit'])
    expect((await ask(`${url}/sessions/b/messages`)).status).toBe(404)
    await second.body?.cancel()
    await expect.poll(async () => (await run(url, 'b')).status).toBe(200)
  })

  test('one run takes so many messages, and so many bytes of them', async () => {
    const { url } = await listen(hanging(), { limits: { steers: { messages: 2, bytes: 1000 } }, headersAfter: 0 })
    await run(url, 'a')
    const steer = (message: string, id: string) => ask(`${url}/sessions/a/steer`, { body: { message, id } })
    expect((await steer('One.', '1')).status).toBe(202)
    expect(await codeOf(await steer('x'.repeat(1000), 'long'))).toEqual([413, 'request.too_large'])
    for (const id of ['1', '2', '1']) expect((await steer('Two.', id)).status).toBe(202)
    expect(await codeOf(await steer('Three.', '3'))).toEqual([429, 'server.limit'])
  })
})

test('requests of one user that are being answered leave room for others, and none is held behind its answer', async () => {
  const { url } = await listen(hanging(), { limits: { requests: { perUser: 1 } } })
  for (let i = 0; i < 3; i++) expect((await ask(`${url}/sessions`)).status).toBe(200)
  const left = new AbortController()
  const waiting = ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, signal: left.signal })
  waiting.catch(() => {})
  await expect.poll(async () => (await ask(`${url}/sessions`)).status).toBe(429)
  expect((await ask(`${url}/sessions`, { as: 'acme/bob' })).status).toBe(200)
})

test('inputs that wait are bounded for a user over all sessions', async () => {
  const { model } = gated()
  const limits = { queued: { perUser: 1 } }
  const { url } = await listen(new Agent({ version: '1', model, logger: silent }), {
    onBusy: 'queue',
    limits,
    headersAfter: 0,
  })
  await run(url, 'a')
  expect((await run(url, 'a')).status).toBe(200)
  const third = await run(url, 'a')
  expect(await third.text()).toContain('server.limit')
})

describe('sessions of MCP', () => {
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-06-18',
      capabilities: { elicitation: {} },
      clientInfo: { name: 't', version: '1' },
    },
  }
  const begin = (url: string, as: string, headers: Record<string, string> = {}) =>
    ask(`${url}/mcp`, { as, body: initialize, headers: { accept: 'application/json, text/event-stream', ...headers } })

  test('a user who begins one after the other loses the idlest, and shuts out nobody', async () => {
    const limits = { mcpSessions: { total: 4, perTenant: 3, perUser: 2 } }
    const { url } = await listen(agentOf([]), { mcp: { elicitation: true }, limits })
    const ids: string[] = []
    for (let i = 0; i < 6; i++) {
      const begun = await begin(url, 'acme/ann')
      expect(begun.status).toBe(200)
      ids.push(begun.headers.get('mcp-session-id') ?? '')
    }
    for (const as of ['acme/bob', 'other/eve', 'third/kim'])
      expect([as, (await begin(url, as)).status]).toEqual([as, 200])
    const end = (id: string) => ask(`${url}/mcp`, { method: 'DELETE', headers: { 'mcp-session-id': id } })
    expect([(await end(ids[0] ?? '')).status, (await end(ids[5] ?? '')).status]).toEqual([404, 200])
  })

  test('what opens no session holds none', async () => {
    const limits = { mcpSessions: { total: 1, perTenant: 1, perUser: 1 } }
    const { url } = await listen(agentOf([]), { mcp: { elicitation: true }, limits })
    const first = await begin(url, 'acme/ann')
    const id = { 'mcp-session-id': first.headers.get('mcp-session-id') ?? '' }
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} }
    for (let i = 0; i < 3; i++)
      await ask(`${url}/mcp`, { body: list, headers: { accept: 'application/json, text/event-stream' } })
    expect((await ask(`${url}/mcp`, { method: 'DELETE', headers: id })).status).toBe(404)
    expect((await begin(url, 'other/eve')).status).toBe(200)
  })
})

test.each([
  [{ runs: { perUser: 0 } }, 'limits.runs.perUser'],
  [{ runs: { perUsr: 1 } }, 'perUsr'],
  [{ stream: {} }, 'stream'],
  [{ runs: 5 }, 'limits.runs'],
  [{ steers: [100] }, 'limits.steers'],
  [null, 'limits'],
])('the limits %j are refused by name', (limits, named) => {
  const make = () => server(agentOf([]), { principal, limits: limits as never })
  expect(make).toThrow(expect.objectContaining({ code: 'server.options', message: expect.stringContaining(named) }))
})
