import { PassThrough, type Writable } from 'node:stream'
import type { Agent } from '@allium/core'
import { expect, test, vi } from 'vitest'
import { type ServerOptions, server } from '../src/index.ts'
import { type LambdaEvent, type LambdaRuntime, lambdaHandler, type StreamingHandler } from '../src/node.ts'
import { agentOf, gated, kept, principal, silent } from './kit.ts'

interface Metadata {
  statusCode: number
  headers: Record<string, string>
}

/** Stands in for the runtime of Lambda. `invoke` returns what a client of the function URL receives. */
function lambda(agent: Agent, options: Partial<ServerOptions> = {}) {
  let handler: StreamingHandler = async () => {}
  let metadata: Metadata | undefined
  const runtime: LambdaRuntime = {
    streamifyResponse: (streaming) => (handler = streaming),
    HttpResponseStream: {
      from(stream: Writable, received) {
        metadata = received
        return stream
      },
    },
  }
  lambdaHandler(server(agent, { principal, logger: silent, onDisconnect: 'abort', ...options }), { runtime })
  return (event: Partial<LambdaEvent> & { method?: string }, remaining = 60_000) => {
    const { method = 'GET', headers = {}, ...rest } = event
    const stream = new PassThrough()
    let text = ''
    stream.on('data', (chunk) => (text += chunk))
    const done = handler(
      {
        rawPath: '/',
        requestContext: { domainName: 'abc.lambda-url.eu-west-1.on.aws', http: { method } },
        ...rest,
        headers: { authorization: 'acme/ann', ...headers },
      },
      stream,
      { getRemainingTimeInMillis: () => remaining },
    )
    return { stream, done, text: () => text, metadata: () => metadata }
  }
}

const run = (input: string) => ({
  method: 'POST',
  rawPath: '/sessions/a/runs',
  headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
  body: JSON.stringify({ input }),
})

test('a run is streamed while the model answers', async () => {
  const { model, text, end } = gated()
  const call = lambda(agentOf([], { model }))(run('Hi'))
  text('Hello, ')
  await vi.waitFor(() => expect(call.text()).toContain('Hello, '), 15_000)
  expect(call.text()).not.toContain('turn:end')
  end()
  await call.done
  expect(call.metadata()).toMatchObject({
    statusCode: 200,
    headers: { 'content-type': expect.stringContaining('event-stream') },
  })
  expect(call.text()).toContain('"status":"completed"')
})

test('an event with a query and a body in base64 is one request', async () => {
  const invoke = lambda(agentOf(['Hello.']))
  const body = Buffer.from(JSON.stringify({ input: 'Hi' })).toString('base64')
  const answer = invoke({ ...run('Hi'), body, isBase64Encoded: true, headers: { 'content-type': 'application/json' } })
  await answer.done
  expect(JSON.parse(answer.text())).toMatchObject({ text: 'Hello.' })
  const list = invoke({ rawPath: '/sessions', rawQueryString: 'limit=1' })
  await list.done
  expect(JSON.parse(list.text()).sessions).toMatchObject([{ id: 'a' }])
})

test('a response without a body has its status', async () => {
  const call = lambda(agentOf([]))({ rawPath: '/sessions/none/events' })
  await call.done
  expect([call.metadata()?.statusCode, call.text()]).toEqual([204, ''])
})

test.each<[string, Partial<LambdaEvent> & { method?: string }]>([
  ['a method that Fetch does not allow', { method: 'TRACE' }],
  ['a body of a GET request', { body: '{}' }],
  ['a header name that is not valid', { headers: { 'a b': 'c' } }],
  ['a header value with a line break', { headers: { a: 'b\nc' } }],
  ['a port that is no number', { requestContext: { domainName: 'a:b', http: { method: 'GET' } } }],
])('answers an event with %s with 400', async (_, event) => {
  const call = lambda(agentOf([]))(event)
  await call.done
  expect([call.metadata()?.statusCode, JSON.parse(call.text()).code]).toEqual([400, 'request.invalid'])
})

/** The handler must have stored the run before it resolves, because Lambda then freezes it. */
test.each(['the client disconnects', 'the time of the function ends'])('a run is stored when %s', async (how) => {
  const { model, text } = gated()
  const { agent, sessions } = kept(agentOf([], { model }))
  const isLate = how !== 'the client disconnects'
  const call = lambda(agent, { sessions })(run('Hi'), isLate ? 3200 : 60_000)
  text('Hello, ')
  await vi.waitFor(() => expect(call.text()).toContain('Hello, '), 15_000)
  if (!isLate) call.stream.destroy()
  await call.done
  const key = { tenant: 'acme', owner: 'ann', agent: agent.name, sessionId: 'a' }
  const stored = await sessions.load(key)
  expect([stored?.history.length, stored?.open]).toEqual([2, undefined])
})

test('outside of Lambda, the error says what to use', () => {
  const app = server(agentOf([]), { principal })
  expect(() => lambdaHandler(app)).toThrow(expect.objectContaining({ code: 'server.options' }))
})
