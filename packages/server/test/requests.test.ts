import { defineTool } from '@allium/core'
import { expect, test } from 'vitest'
import { agentOf, ask, asStream, kept, kinds, listen } from './kit.ts'

const refund = defineTool({
  name: 'refund',
  description: 'Gives money back.',
  jsonSchema: { type: 'object' },
  requireApproval: true,
  execute: () => 'Refunded.',
})
const call = { toolCalls: [{ name: 'refund', args: { cents: 5 }, callId: 'c1' }] }

async function refusal(asked: Promise<Response>): Promise<[number, string, string]> {
  const response = await asked
  const { code, message } = (await response.json()) as { code: string; message: string }
  return [response.status, code, message]
}

test.each([{}, { decisions: null }, { decisions: {} }, { decisions: [] }, { decision: { c1: { approve: true } } }])(
  'decisions such as %j begin no run, and the call goes on waiting',
  async (body) => {
    const { agent, sessions } = kept(agentOf([call, 'Must not be asked.'], { tools: [refund] }))
    const { url } = await listen(agent, { sessions })
    await ask(`${url}/sessions/a/runs`, { body: { input: 'Refund' } })
    const key = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'a' }
    const before = await sessions.load(key)
    const [status, code, message] = await refusal(ask(`${url}/sessions/a/decisions`, { body }))
    expect([status, code]).toEqual([400, 'request.invalid'])
    expect(message).toMatch(/`decisions?`/)
    expect(await sessions.load(key)).toEqual(before)
    expect((await sessions.pendingCalls({ tenant: 'acme', limit: 10 })).items).toHaveLength(1)
  },
)

const secret = 'sk-never-echoed-by-the-server'
test.each<[string, object, string, RegExp]>([
  ['runs', { input: 'Hi', sytem: secret }, 'request.invalid', /`sytem` is unknown.*Available: .*input/],
  ['runs', { input: 'Hi', output: { type: secret } }, 'request.invalid', /`output.type` must be "object"/],
  ['runs', { input: [{ type: 'text' }] }, 'request.invalid', /`input\[0\].text` is missing/],
  [
    'runs',
    { input: [{ type: 'image', data: secret, mediaType: 'image/png' }] },
    'request.invalid',
    /`input\[0\].data`.*base64/,
  ],
  [
    'runs',
    { input: [{ type: 'image', data: 'aGk=', mediaType: 'x\r\ny' }] },
    'request.invalid',
    /`input\[0\].mediaType` must be a media/,
  ],
  [
    'runs',
    { input: 'Hi', clientTools: [{ name: 'a b', description: '', jsonSchema: {} }] },
    'request.invalid',
    /`clientTools\[0\].name`/,
  ],
  [
    'decisions',
    { decisions: { c1: { approve: secret } } },
    'approval.invalid',
    /`decisions.c1.approve` must be true, but got a string/,
  ],
  [
    'decisions',
    { decisions: { c1: { approve: true, deny: 'no' } } },
    'approval.invalid',
    /`decisions.c1`.*exactly one/,
  ],
  ['decisions', { decisions: { c1: { maybe: true } } }, 'approval.invalid', /`decisions.c1.maybe` is unknown/],
  ['steer', { message: '' }, 'request.invalid', /`message` must be/],
  ['steer', { message: 'Hi', id: 7 }, 'request.invalid', /`id` must be a string of 1 to 256 characters, but got 7/],
  ['stop', { force: true }, 'request.invalid', /`force` is unknown/],
  ['fork', { at: '\0' }, 'request.invalid', /`at` must be an id/],
  ['fork', { id: '..' }, 'session.invalid_id', /`id` must be a session id/],
])('a body of /%s such as %j is refused by the name of its field', async (path, body, code, message) => {
  const { url } = await listen(agentOf([]))
  const found = await refusal(ask(`${url}/sessions/a/${path}`, { body }))
  expect(found).toEqual([400, code, expect.stringMatching(message)])
  expect(found[2]).not.toContain(secret)
})

test.each([
  ['/sessions?limt=2', /query parameter `limt` is unknown/],
  ['/sessions?limit=2&limit=3', /query parameter `limit` must be an integer.*a list of 2/],
  ['/sessions?limit=1e1', /query parameter `limit`/],
  ['/approvals?cursor=[1.5]', /Start again with the first page/],
  ['/sessions/a/messages?owner=', /query parameter `owner`/],
  ['/sessions/a%00b/messages', /path parameter `id` must be a session id/],
])('%s is refused by the name of its parameter', async (path, message) => {
  const { url } = await listen(agentOf([]))
  const [status, , told] = await refusal(ask(`${url}${path}`))
  expect([status, told]).toEqual([400, expect.stringMatching(message)])
})

test.each([
  ['text/event-stream', true],
  ['application/json, text/event-stream', true],
  ['TEXT/EVENT-STREAM; q=0.5', true],
  ['text/event-stream;q=0', false],
  ['text/event-stream;q=0.2, application/json', false],
  ['text/event-stream;q=nonsense', false],
  ['application/x-text/event-stream', false],
  ['*/*', false],
])('a run that accepts %s is a stream: %s', async (accept, streams) => {
  const { url } = await listen(agentOf(['Hello.']))
  const response = await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: { accept } })
  expect(response.headers.get('content-type')?.startsWith('text/event-stream')).toBe(streams)
})

test('a method that a path does not take is 405, and tells those that it takes', async () => {
  const { url } = await listen(agentOf([]), { openai: true })
  const asked = async (path: string, method: string) => {
    const response = await ask(`${url}${path}`, { method })
    return [response.status, response.headers.get('allow'), Object.keys((await response.json()) as object)]
  }
  expect(await asked('/sessions/a/runs', 'PUT')).toEqual([405, 'POST', ['code', 'message', 'requestId']])
  expect(await asked('/sessions', 'DELETE')).toEqual([405, 'GET, HEAD', ['code', 'message', 'requestId']])
  expect(await asked('/v1/responses', 'PATCH')).toEqual([405, 'POST', ['error']])
})

test.each([
  ['/chat', 'uiStream'],
  ['/chat/a/stop', 'uiStream'],
  ['/agui', 'agui'],
  ['/v1/chat/completions', 'openai'],
  ['/mcp', 'mcp'],
  ['/metrics', 'metrics'],
])('%s without its option is 404, and names the option `%s`', async (path, option) => {
  const { url } = await listen(agentOf([]))
  const response = await ask(`${url}${path}`, { body: {} })
  const { status } = path === '/metrics' ? await ask(`${url}${path}`) : response
  expect([status, path === '/metrics' ? option : await response.text()]).toEqual([404, expect.stringContaining(option)])
})

test.each(kinds)('an idempotency key stands for the tools of the client, too, of runs %s', async (_, listen) => {
  const { url } = await listen(agentOf(['One.', 'Two.']))
  const tool = (description: string) => ({ name: 'locate', description, jsonSchema: { type: 'object' } })
  const run = (clientTools: object[]) =>
    ask(`${url}/sessions/a/runs`, { body: { input: 'Hi', clientTools }, headers: { 'idempotency-key': 'k' } })
  expect((await run([tool('Where')])).status).toBe(200)
  expect((await run([tool('Where')])).status).toBe(200)
  expect(await refusal(run([tool('Who')]))).toEqual([422, 'run.key_reused', expect.any(String)])
  expect(await refusal(run([]))).toEqual([422, 'run.key_reused', expect.any(String)])
})

test('a body with too many values is refused before anything is built from it', async () => {
  const { url } = await listen(agentOf([]), { maxBodyBytes: 10_000_000 })
  const body = `{"input":"Hi","output":{"type":"object","enum":[${'0,'.repeat(200_000)}0]}}`
  expect(await refusal(ask(`${url}/sessions/a/runs`, { body }))).toEqual([
    400,
    'request.invalid',
    'The body has more than 200000 values.',
  ])
})

test('JSON in another charset, or beside another type, is 415', async () => {
  const { url } = await listen(agentOf(['Hello.']))
  const type = async (value: string) =>
    (await ask(`${url}/sessions/a/runs`, { body: '{"input":"Hi"}', headers: { 'content-type': value } })).status
  for (const value of [
    'application/json;charset=utf-16',
    'application/json, text/html',
    'application/jsonp',
    'text/json',
  ])
    expect([value, await type(value)]).toEqual([value, 415])
  expect(await type('application/json ; charset="UTF-8"')).toBe(200)
})

test('a run of another owner is not begun, stopped or deleted by `?owner=`, and neither is one of the caller', async () => {
  const { url } = await listen(agentOf(['One.']))
  await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' } })
  for (const [method, path, body] of [
    ['DELETE', '/sessions/a', undefined],
    ['POST', '/sessions/a/runs', { input: 'Hi' }],
    ['POST', '/sessions/a/fork', {}],
  ] as const)
    expect((await ask(`${url}${path}?owner=bob`, { method, body })).status).toBe(404)
  expect((await ask(`${url}/sessions/a/messages`)).status).toBe(200)
})

test('a refused origin, and an unknown path, have the shape of the protocol', async () => {
  const { url } = await listen(agentOf([]), { openai: true, mcp: true })
  const headers = { origin: 'https://evil.example', ...asStream }
  const keys = async (path: string) => {
    const response = await ask(`${url}${path}`, { body: {}, headers })
    return [response.status, Object.keys((await response.json()) as object)]
  }
  expect(await keys('/v1/chat/completions')).toEqual([403, ['error']])
  expect(await keys('/v1/responses')).toEqual([403, ['error']])
  expect(await keys('/mcp')).toEqual([403, ['jsonrpc', 'id', 'error']])
  expect(await keys('/sessions/a/runs')).toEqual([403, ['code', 'message', 'requestId']])
  expect(Object.keys((await (await ask(`${url}/v1/nowhere`)).json()) as object)).toEqual(['error'])
})
