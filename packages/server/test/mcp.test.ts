import type { ModelChunk } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { agentOf, ask, listen } from './kit.ts'
import { type Answer, revision, rpc } from './mcp/rpc.ts'

const version = 'io.modelcontextprotocol/protocolVersion'
const message = (text: string) => ({ name: 'agent', arguments: { message: text } })

describe('MCP 2026-07-28', () => {
  it('tells its revisions and capabilities, and that nothing of them changes', async () => {
    const { url } = await listen(agentOf([]), { mcp: true })
    const { result } = await rpc(url, 'server/discover')
    expect(result).toMatchObject({ supportedVersions: [revision], capabilities: { tools: {} }, resultType: 'complete' })
    const listening = await rpc(url, 'subscriptions/listen', { notifications: { toolsListChanged: true } })
    expect([JSON.stringify(result).includes('listChanged'), listening.status, listening.error?.code]).toEqual([
      false,
      404,
      -32601,
    ])
  })

  it('lets a client cache the list of tools, which is that of the caller, for a minute', async () => {
    const { url } = await listen(agentOf([]), { mcp: true })
    const cached = { ttlMs: 60_000, cacheScope: 'private' }
    expect((await rpc(url, 'tools/list')).result).toMatchObject({ tools: [{ name: 'agent' }], ...cached })
  })

  it('has no prompts and no resources, and lists none', async () => {
    const { url } = await listen(agentOf([]), { mcp: true })
    const lists = ['prompts/list', 'resources/list', 'resources/templates/list'].map((method) => rpc(url, method))
    const results = (await Promise.all(lists)).map(({ result }) => result)
    expect(results).toMatchObject([{ prompts: [] }, { resources: [] }, { resourceTemplates: [] }])
    expect((await rpc(url, 'resources/read', { uri: 'file:///a' })).error?.code).toBe(-32602)
    expect((await rpc(url, 'prompts/get', { name: 'a' })).error?.code).toBe(-32602)
  })

  it.each<[string, number, number, object]>([
    ['whose header names another method', 400, -32020, { headers: { 'mcp-method': 'tools/list' } }],
    ['whose header names another tool', 400, -32020, { headers: { 'mcp-name': 'other' } }],
    ['without capabilities', 400, -32602, { meta: { 'io.modelcontextprotocol/clientCapabilities': undefined } }],
    ['of an unknown revision', 400, -32022, { meta: { [version]: 'v9' }, headers: { 'mcp-protocol-version': 'v9' } }],
  ])('refuses a request %s, with its id', async (_, status, code, asked) => {
    const { url } = await listen(agentOf(['Never.']), { mcp: true })
    const refused = await rpc(url, 'tools/call', message('Hi'), asked)
    expect([refused.status, refused.id, refused.error?.code]).toEqual([status, 7, code])
  })

  it('has the id of the request in the errors of the server, too', async () => {
    const { url } = await listen(agentOf([]), { mcp: { elicitation: true } })
    const body = { jsonrpc: '2.0', id: 'a', method: 'tools/list' }
    const headers = { accept: 'application/json, text/event-stream', 'mcp-session-id': 'none' }
    const answer = (await (await ask(`${url}/mcp`, { body, headers })).json()) as Answer
    expect(answer).toMatchObject({ id: 'a', error: { data: { code: 'session.not_found' } } })
  })
})

describe('an agent as a tool', () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const file = (data: string | URL, mediaType: string): ModelChunk => ({ type: 'file', data, mediaType })
  const contentOf = async (chunks: ModelChunk[]) => {
    const { url } = await listen(agentOf([{ chunks }]), { mcp: true })
    const call = { name: 'agent', arguments: { message: 'Hi', sessionId: 's' } }
    return (await rpc(url, 'tools/call', call)).result?.content
  }

  it('has the files of the answer as images, audio, embedded resources and links', async () => {
    const chunks = [
      { type: 'text-delta', delta: 'Here.' } as const,
      file('aQ==', 'image/png'),
      file('data:audio/wav;base64,YQ==', 'audio/wav'),
      file(base64('Grüße'), 'text/plain'),
      file('AAE=', 'application/pdf'),
      file(new URL('https://files.example/a.pdf'), 'application/pdf'),
    ]
    expect(await contentOf(chunks)).toEqual([
      { type: 'text', text: 'Here.' },
      { type: 'image', data: 'aQ==', mimeType: 'image/png' },
      { type: 'audio', data: 'YQ==', mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'allium:s/3', mimeType: 'text/plain', text: 'Grüße' } },
      { type: 'resource', resource: { uri: 'allium:s/4', mimeType: 'application/pdf', blob: 'AAE=' } },
      { type: 'resource_link', uri: 'https://files.example/a.pdf', name: 'a.pdf', mimeType: 'application/pdf' },
    ])
  })

  it('has no text beside files if the agent said nothing, and no files of its reasoning', async () => {
    const chunks = [{ ...file('aQ==', 'image/png'), reasoning: true } as ModelChunk, file('Yg==', 'image/png')]
    expect(await contentOf(chunks)).toEqual([{ type: 'image', data: 'Yg==', mimeType: 'image/png' }])
  })

  it('gets arguments without a message as JSON', async () => {
    const model = scriptedModel(['Sunny.'])
    const { url } = await listen(agentOf([], { model }), { mcp: true })
    await rpc(url, 'tools/call', { name: 'agent', arguments: { city: 'Rome', sessionId: 's' } })
    expect(model.requests[0]?.messages.map(({ content }) => content)).toEqual(['{"city":"Rome"}'])
  })

  it.each([{ message: 5 }, { message: '' }, { message: 'Hi', sessionId: 5 }])('refuses %j', async (args) => {
    const { url } = await listen(agentOf([]), { mcp: true })
    expect((await rpc(url, 'tools/call', { name: 'agent', arguments: args })).error?.code).toBe(-32602)
  })
})
