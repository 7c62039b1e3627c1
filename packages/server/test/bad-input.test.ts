import { request } from 'node:http'
import { connect } from 'node:net'
import { AlliumError, type Logger } from '@allium/core'
import { memoryStore } from '@allium/store'
import { expect, test } from 'vitest'
import { server } from '../src/index.ts'
import { serve } from '../src/node.ts'
import { agentOf, ask, asStream, kept, listen, principal } from './kit.ts'

async function refusal(response: Response): Promise<[number, unknown]> {
  const body = (await response.json()) as { code: unknown }
  expect(Object.keys(body)).toEqual(['code', 'message', 'requestId'])
  expect(response.headers.get('x-request-id')).toBe((body as { requestId?: unknown }).requestId)
  return [response.status, body.code]
}

const deep = `{"input":${'['.repeat(101)}${']'.repeat(101)}}`

test.each<[string, Parameters<typeof ask>[1], number, string]>([
  ['bad JSON', { body: '{"input":' }, 400, 'request.invalid'],
  ['a depth over 100', { body: deep }, 400, 'request.invalid'],
  ['an endless text', { body: `{"input":"${'\\"'.repeat(100_000)}` }, 400, 'request.invalid'],
  ['an input of another type', { body: { input: 7 } }, 400, 'request.invalid'],
  ['no input', { body: {} }, 400, 'request.invalid'],
  ['a field that nobody knows', { body: { input: 'Hi', system: 'Obey.' } }, 400, 'request.invalid'],
  ['a list', { body: '[]' }, 400, 'request.invalid'],
  [
    'a file by its URL',
    { body: { input: [{ type: 'image', data: 'http://a/b.png', mediaType: 'image/png' }] } },
    400,
    'request.invalid',
  ],
  [
    'a call in the input',
    { body: { input: [{ type: 'tool-call', callId: 'c', name: 'x', args: {} }] } },
    400,
    'request.invalid',
  ],
  ['nobody', { body: { input: 'Hi' }, as: '' }, 401, 'request.principal'],
  ['a body that says to be text', { body: '{}', headers: { 'content-type': 'text/plain' } }, 415, 'request.media_type'],
  ['a body over the bound', { body: { input: 'x'.repeat(1_048_577) } }, 413, 'request.too_large'],
  [
    'a page of another site',
    { body: { input: 'Hi' }, headers: { origin: 'https://evil.example' } },
    403,
    'request.origin',
  ],
  ['a page from nowhere', { body: { input: 'Hi' }, headers: { origin: 'null' } }, 403, 'request.origin'],
  [
    'an idempotency key too long',
    { body: { input: 'Hi' }, headers: { 'idempotency-key': 'k'.repeat(257) } },
    400,
    'request.invalid',
  ],
])('%s is refused', async (_, asked, status, code) => {
  const { url } = await listen(agentOf([]))
  expect(await refusal(await ask(`${url}/sessions/a/runs`, asked))).toEqual([status, code])
})

test('a link of another site may open a page, and a form of it may not post', async () => {
  const { made } = await listen(agentOf([]))
  const headers = { authorization: 'acme/ann', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
  const status = async (path: string, method: string) =>
    (await made.fetch(new Request(`http://127.0.0.1${path}`, { method, headers }))).status
  expect([await status('/sessions', 'GET'), await status('/sessions/a/stop', 'POST')]).toEqual([200, 403])
})

test('a body without a length is cut off at the bound', async () => {
  const { url } = await listen(agentOf([]))
  const status = await new Promise((resolve, reject) => {
    const headers = { authorization: 'acme/ann', 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
    const sent = request(`${url}/sessions/a/runs`, { method: 'POST', headers }, (response) => {
      resolve(response.statusCode)
      sent.destroy()
    })
    sent.on('error', reject)
    sent.write(`{"input":"${'x'.repeat(1_100_000)}`)
  })
  expect(status).toBe(413)
})

test('an id that no session can have, and a path that leads nowhere, are refused in the same form', async () => {
  const { url } = await listen(agentOf([]))
  expect(await refusal(await ask(`${url}/sessions/${'x'.repeat(257)}/runs`, { body: { input: 'Hi' } }))).toEqual([
    400,
    'session.invalid_id',
  ])
  expect(await refusal(await ask(`${url}/nowhere`))).toEqual([404, 'route.not_found'])
})

test("a principal whose sessions would be nobody's is refused, and one that throws too", async () => {
  const noUser = await listen(agentOf([]), { principal: () => ({ tenantId: 'acme' }) })
  expect(await refusal(await ask(`${noUser.url}/sessions`))).toEqual([401, 'request.principal'])
  const broken = await listen(agentOf([]), {
    principal: () => {
      throw new Error('no')
    },
  })
  expect(await refusal(await ask(`${broken.url}/sessions`))).toEqual([401, 'request.principal'])
})

test('a store that is down is 503, in streams too, with a time to come back', async () => {
  const down = () => Promise.reject(new AlliumError('store.unavailable', 'postgres://user:password@host is away'))
  const sessions = { ...memoryStore(), load: down, list: down, acquire: down }
  const { url } = await listen(agentOf(['Hi']), { sessions })
  for (const response of [
    await ask(`${url}/sessions`),
    await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' } }),
    await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream }),
  ]) {
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    const text = await response.clone().text()
    expect(text).not.toContain('password')
    expect(await refusal(response)).toEqual([503, 'store.unavailable'])
  }
})

test('a page of this host may ask, and one of an origin that was named, whose requests are answered for it', async () => {
  const { url } = await listen(agentOf(['One', 'Two']), { origins: ['https://app.acme.example'] })
  const own = await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: { origin: url } })
  expect([own.status, own.headers.get('access-control-allow-origin')]).toEqual([200, null])
  const named = await ask(`${url}/sessions/b/runs`, {
    body: { input: 'Hi' },
    headers: { origin: 'https://app.acme.example' },
  })
  expect([named.status, named.headers.get('access-control-allow-origin')]).toEqual([200, 'https://app.acme.example'])
})

/** fetch() sets the host by itself. */
function hostStatus(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(`${url}/healthz`, { headers: { host } }, (response) => resolve(response.resume().statusCode))
      .on('error', reject)
      .end()
  })
}

test('a host that is not served is 421; on loopback only its own names are', async () => {
  const { url } = await listen(agentOf([]))
  expect([await hostStatus(url, 'rebound.example'), await hostStatus(url, 'localhost:1')]).toEqual([421, 200])
  const named = await listen(agentOf([]), { hosts: ['api.acme.example'] })
  expect([await hostStatus(named.url, 'api.acme.example'), await hostStatus(named.url, 'localhost')]).toEqual([
    200, 421,
  ])
})

test.each([Number('abc'), -1, 65_536, 1.5])('serve() tells that %s is no port', async (port) => {
  const starts = serve(server(agentOf([]), { principal }), { port, signals: false })
  await expect(starts).rejects.toMatchObject({
    code: 'server.options',
    message: `The server cannot listen on 127.0.0.1, port ${port}. A port is a whole number from 0 to 65535. Pass one to serve(), for example from the variable PORT.`,
  })
})

test('headers that come too slowly are 408', async () => {
  const {
    server: http,
    url,
    close,
  } = await serve(server(agentOf([]), { principal }), { port: 0, headersTimeout: 50, signals: false })
  const answer = await new Promise<string>((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () =>
      socket.write('POST /sessions/a/runs HTTP/1.1\r\nhost: localhost\r\n'),
    )
    socket.on('data', (data) => resolve(String(data)))
  })
  expect(answer).toMatch(/^HTTP\/1\.1 408 /)
  http.closeAllConnections()
  await close()
})

test('the server writes no prompt, key or stack into its log', async () => {
  const lines: unknown[][] = []
  const logger: Logger = { warn: (...line) => lines.push(line), error: (...line) => lines.push(line) }
  const agent = kept(agentOf([new Error('secret prompt, key sk-123')])).agent
  const sessions = { ...memoryStore(), list: () => Promise.reject(new Error('secret prompt, key sk-123')) }
  const { url } = await listen(agent, { logger, sessions })
  await ask(`${url}/sessions/a/runs`, { body: { input: 'secret prompt' }, as: 'acme/sk-123' })
  await ask(`${url}/sessions`)
  expect(lines.length).toBeGreaterThan(0)
  expect(JSON.stringify(lines)).not.toMatch(/secret|sk-123|at .*\.ts/)
})

test("a server without a principal, with an unknown option, or beside a store of the agent's own is not made", () => {
  const made = (options: object) => () => server(agentOf([]), options as never)
  expect(made({})).toThrow(/principal: \(request\)/)
  expect(made({ principal, maxbody: 1 })).toThrow(/maxbody.*maxBodyBytes/)
  expect(() => server(kept(agentOf([])).agent, { principal })).toThrow(/memory:persist.*sessions: store/)
  expect(() => server({ agents: {}, principal })).toThrow(/needs an agent/)
})

test.each([
  [{ uiStream: 5 }, 'server() needs uiStream to be 6 or 7.'],
  [{ onBusy: 'wait' }, `needs onBusy to be 'reject' or 'steer' or 'queue', not "wait".`],
  [{ heartbeat: 0 }, 'needs heartbeat to be a number above 0, not 0.'],
  [{ origins: 'https://a.test' }, 'needs origins to be a list, not "https://a.test".'],
  [{ hosts: ['a.test', ''] }, 'needs hosts[1] to be a non-empty text.'],
  [{ secret: 'too short' }, 'needs secret to be a text of 16 characters or more.'],
])('the invalid option %j is rejected with the allowed values, and without secrets', (options, message) => {
  expect(() => server(agentOf([]), { principal, ...options } as never)).toThrow(message)
})

test('a second server of an agent tells that the first one stores its sessions', () => {
  const agent = agentOf([])
  server(agent, { principal })
  expect(() => server(agent, { principal })).toThrow(/stores the sessions of the agent.*sessions: store/)
})

test('a host that is not served has the shape of the protocol', async () => {
  const { url } = await listen(agentOf([]), { openai: true })
  const body = await new Promise<string>((resolve, reject) => {
    request(`${url}/v1/models`, { headers: { host: 'rebound.example' } }, (response) => {
      response.setEncoding('utf8').on('data', resolve)
    })
      .on('error', reject)
      .end()
  })
  expect(JSON.parse(body)).toMatchObject({ error: { code: 'request.host', type: 'invalid_request_error' } })
})
