import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect as connectHttp2, createServer as createHttp2 } from 'node:http2'
import { type AddressInfo, connect, type Server, type Socket } from 'node:net'
import { Agent } from '@allium/core'
import { manualClock } from '@allium/testing'
import { expect, onTestFinished, test } from 'vitest'
import { server } from '../src/index.ts'
import { toNode } from '../src/node.ts'
import { agentOf, gated, principal, silent } from './kit.ts'

/** The streams of the server's own protocol, and those for a page of the AI SDK. */
const streams = [
  ['/sessions/a/runs', { input: 'Hi' }],
  ['/chat', { id: 'a', messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }] }],
] as const
const [native, chat] = streams

test.each(streams)('the stream of %s goes to the socket, and no web stream is read', async (path, body) => {
  const bodies: Response['body'][] = []
  const { fetch } = served(agentOf(['Hello.']))
  const handler = async (request: Request) => {
    const response = await fetch(request)
    bodies.push(response.body)
    return response
  }
  const socket = await socketTo(createServer(toNode({ fetch: handler })))
  socket.write(post(path, body))
  expect(await textUntil(socket, '\r\n0\r\n\r\n')).toContain('Hello.')
  expect(bodies.map((stream) => stream?.locked)).toEqual([false])
})

test.each(streams)(
  'a client of HTTP/1.0 gets the stream of %s without chunks, up to the end of the connection',
  async (path, body) => {
    const socket = await socketTo(listening(agentOf(['Hello.'])))
    socket.write(post(path, body, '1.0'))
    const text = await textUntil(socket, undefined)
    expect(text).toMatch(/^HTTP\/1.1 200 OK\r\n/)
    expect(text.toLowerCase()).not.toContain('transfer-encoding')
    expect(text.split('\r\n\r\n')[1]).toMatch(/^: heartbeat 15000\n\n.*Hello\..*\n\n$/s)
  },
)

test('a stream has the headers that a proxy and a page need, and those of layers in front of it', async () => {
  const handle = toNode(served(agentOf(['Hello.'])))
  const http = createServer((incoming, outgoing) => {
    outgoing.setHeader('x-front', 'express')
    handle(incoming, outgoing)
  })
  const socket = await socketTo(http)
  socket.write(post(...chat))
  const [head] = (await textUntil(socket, '\r\n0\r\n\r\n')).split('\r\n\r\n')
  expect(head?.toLowerCase()).toContain('x-front: express')
  expect(head).toContain('content-type: text/event-stream; charset=utf-8')
  expect(head).toContain('cache-control: no-cache, no-transform')
  expect(head).toContain('x-vercel-ai-ui-message-stream: v1')
  expect(head).toMatch(/x-request-id: \S+/)
})

test('one connection serves a stream, another request and another stream', async () => {
  const socket = await socketTo(listening(agentOf(['One.', 'Two.'])))
  socket.write(post(...native))
  expect(await textUntil(socket, '\r\n0\r\n\r\n')).toContain('One.')
  socket.write('GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n')
  expect(await textUntil(socket, '\r\n\r\n')).toContain('HTTP/1.1 2')
  socket.write(post('/sessions/b/runs', native[1]))
  expect(await textUntil(socket, '\r\n0\r\n\r\n')).toContain('Two.')
})

test('a request that is sent before the stream has ended is answered after it', async () => {
  const { model, text, end } = gated()
  const socket = await socketTo(listening(new Agent({ model, logger: silent })))
  socket.write(`${post(...native)}GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n`)
  text('one ')
  const first = await textUntil(socket, 'one ')
  text('two.')
  end()
  const all = first + (await textUntil(socket, 'HTTP/1.1 2'))
  expect(all.indexOf('two.')).toBeLessThan(all.lastIndexOf('HTTP/1.1 2'))
})

test.each(streams)('a client that leaves %s stops the run, if the server is told so', async (path, body) => {
  const { model, text, closed } = gated()
  const options = { onDisconnect: 'abort' } as const
  const socket = await socketTo(listening(new Agent({ model, logger: silent }), options))
  socket.write(post(path, body))
  text('one ')
  await textUntil(socket, 'one ')
  socket.destroy()
  await closed
})

test('a client that leaves before the first event stops the run, too', async () => {
  const { model, closed } = gated()
  const options = { onDisconnect: 'abort', headersAfter: 1 } as const
  const socket = await socketTo(listening(new Agent({ model, logger: silent }), options))
  socket.write(post(...native))
  await textUntil(socket, ': heartbeat')
  socket.destroy()
  await closed
})

test('a reader that pauses holds back the rest of a long answer, and gets it when it goes on', async () => {
  let outgoing: ServerResponse | undefined
  const handle = toNode(served(agentOf([{ chunks: Array(1000).fill('word '.repeat(1000)) }])))
  const http = createServer((incoming, response) => {
    outgoing ??= response
    handle(incoming, response)
  })
  const socket = await socketTo(http)
  socket.pause()
  socket.write(post(...native))
  await expect.poll(() => outgoing?.writableNeedDrain, { timeout: 10_000 }).toBe(true)
  expect(outgoing?.writableLength).toBeLessThan(100_000)
  const text = await textUntil(socket, '\r\n0\r\n\r\n')
  expect(text.split('word ').length).toBeGreaterThan(1_000_000)
})

test('a reader that takes nothing for eight heartbeats loses its connection', async () => {
  const clock = manualClock()
  let outgoing: ServerResponse | undefined
  const handle = toNode(served(agentOf([{ chunks: Array(1000).fill('word '.repeat(1000)) }]), { clock }))
  const http = createServer((incoming, response) => {
    outgoing = response
    handle(incoming, response)
  })
  const socket = await socketTo(http)
  socket.pause()
  socket.write(post(...native))
  await expect.poll(() => outgoing?.writableNeedDrain, { timeout: 10_000 }).toBe(true)
  for (let beat = 1; beat < 8; beat++) await clock.advance(15_000)
  expect(outgoing?.destroyed).toBe(false)
  await clock.advance(15_000)
  expect(outgoing?.destroyed).toBe(true)
})

test('a run that fails in the middle of its stream ends it with its error', async () => {
  const failing = agentOf([{ text: 'Half an answer', error: new Error('Lost.') }])
  const socket = await socketTo(listening(failing))
  socket.write(post(...native))
  const text = await textUntil(socket, '\r\n0\r\n\r\n')
  expect(text).toContain('200 OK')
  expect(text).toContain('event: run:error')
})

test('a HEAD request for a stream has its headers and no body', async () => {
  const { model, text } = gated()
  const socket = await socketTo(listening(new Agent({ model, logger: silent })))
  socket.write(post(...native))
  text('one ')
  await textUntil(socket, 'one ')
  const other = await socketTo(socket)
  const auth = 'host: a\r\nauthorization: acme/ann\r\nconnection: close\r\n\r\n'
  other.write(`HEAD /chat/a/stream HTTP/1.1\r\n${auth}`)
  const head = await textUntil(other, undefined)
  expect(head).toContain('content-type: text/event-stream')
  expect(head.split('\r\n\r\n')[1]).toBe('')
})

test('a handler around the server reads the stream, and sends what it makes of it', async () => {
  const { fetch } = served(agentOf(['Hello.']))
  const handler = async (request: Request) => {
    const response = await fetch(request)
    const loud = new TransformStream<string, string>({ transform: (text, out) => out.enqueue(text.toUpperCase()) })
    const body = response.body?.pipeThrough(new TextDecoderStream() as never).pipeThrough(loud as never)
    return new Response(body?.pipeThrough(new TextEncoderStream() as never), response)
  }
  const socket = await socketTo(createServer(toNode({ fetch: handler })))
  socket.write(post(...native))
  expect(await textUntil(socket, 'HELLO.')).toContain('200 OK')
})

test('a client of HTTP/2 gets the stream', async () => {
  const http = createHttp2(toNode(served(agentOf(['Hello.']))) as never)
  const port = await portOf(http as never)
  const client = connectHttp2(`http://127.0.0.1:${port}`)
  onTestFinished(() => client.close())
  const headers = { authorization: 'acme/ann', 'content-type': 'application/json', accept: 'text/event-stream' }
  const request = client.request({ ':method': 'POST', ':path': native[0], ...headers })
  request.end(JSON.stringify(native[1]))
  const [{ ':status': status }] = (await once(request, 'response')) as [Record<string, unknown>]
  const text = (await request.setEncoding('utf8').toArray()).join('')
  expect([status, text.includes('Hello.')]).toEqual([200, true])
})

function served(agent: Agent, options: object = {}) {
  return server(agent, { principal, logger: silent, uiStream: 7, ...options })
}

function listening(agent: Agent, options: object = {}) {
  return createServer(toNode(served(agent, options)))
}

async function portOf(http: Server): Promise<number> {
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void http.close())
  return (http.address() as AddressInfo).port
}

/** A connection to a server, or another one to the same. */
async function socketTo(to: Server | Socket): Promise<Socket> {
  const port = 'listen' in to ? await portOf(to) : (to.remotePort as number)
  const socket = connect(port, '127.0.0.1').setEncoding('utf8')
  socket.on('error', () => {})
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  return socket
}

function post(path: string, body: object, version = '1.1'): string {
  const text = JSON.stringify(body)
  const head = ['host: a', 'authorization: acme/ann', 'accept: text/event-stream', 'content-type: application/json']
  return `POST ${path} HTTP/${version}\r\n${head.join('\r\n')}\r\ncontent-length: ${text.length}\r\n\r\n${text}`
}

/** What arrives up to a text, or up to the end of the connection. */
async function textUntil(socket: Socket, end: string | undefined): Promise<string> {
  let text = ''
  const done = new Promise<void>((resolve) => {
    socket.on('data', (piece) => {
      text += piece
      if (end !== undefined && text.includes(end)) resolve()
    })
    socket.once('close', resolve)
  })
  socket.resume()
  await done
  socket.removeAllListeners('data')
  return text
}
