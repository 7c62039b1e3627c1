import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Agent } from '@allium/core'
import { expect, onTestFinished, test, vi } from 'vitest'
import { server } from '../src/index.ts'
import { serve } from '../src/node.ts'
import { agentOf, allOf, ask, asStream, gated, listen, principal } from './kit.ts'

function open(url: string) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {})
  onTestFinished(() => void socket.destroy())
  return socket
}

const closed = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve))

test('a client that sends many requests over one connection and reads no answer loses the connection', async () => {
  let asked = 0
  const { url } = await listen(agentOf([]), {
    principal: (request) => {
      asked++
      return principal(request)
    },
  })
  const socket = open(url)
  socket.pause()
  socket.write('GET /sessions HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: acme/ann\r\n\r\n'.repeat(2500))
  socket.resume()
  await closed(socket)
  expect(asked).toBeLessThanOrEqual(16)
  expect((await ask(`${url}/sessions`)).status).toBe(200)
})

test('one that reads them may send as many as it likes, one after the other', async () => {
  const { url } = await listen(agentOf([]))
  const socket = open(url)
  let text = ''
  for (let n = 1; n <= 40; n++) {
    socket.write('GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n')
    while (text.split('HTTP/1.1 200').length <= n) text += (await once(socket, 'data')).join('')
  }
  expect(text.split('HTTP/1.1 200')).toHaveLength(41)
})

test('connections beyond maxConnections are closed as they come', async () => {
  const made = server(agentOf([]), { principal })
  const served = await serve(made, { port: 0, signals: false, drainTimeout: 0, maxConnections: 1 })
  const first = open(served.url)
  onTestFinished(() => {
    served.server.closeAllConnections()
    return served.close()
  })
  await once(first, 'connect')
  await closed(open(served.url))
  first.write('GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n')
  expect(String(await once(first, 'data'))).toContain('HTTP/1.1 200')
})

test('a server closes even if a connection never sends a request, as those that proxies open ahead', async () => {
  const served = await serve(server(agentOf([]), { principal }), { port: 0, signals: false })
  const socket = open(served.url)
  await once(served.server, 'connection')
  await Promise.all([served.close(), closed(socket)])
})

test('a server that closes ends each connection after its last response', async () => {
  const { model, text, end } = gated()
  const served = await serve(server(new Agent({ model }), { principal }), { port: 0, signals: false })
  // Neither of Node's ways to end an idle connection helps.
  served.server.keepAliveTimeout = 600_000
  served.server.closeAllConnections = () => {}
  const asked = ask(`${served.url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream })
  text('one ')
  const stream = await asked
  const closing = served.close()
  end()
  expect(JSON.parse((await allOf(stream)).at(-1)?.data as string)).toMatchObject({ status: 'completed' })
  await closing
})

test('one that goes away within a body is no error of the server', async () => {
  const errors: string[] = []
  const { url, made } = await listen(agentOf([]), { logger: { warn() {}, error: (text) => errors.push(text) } })
  const answers: Promise<Response>[] = []
  const { fetch } = made
  made.fetch = (request) => {
    const answer = fetch(request)
    answers.push(answer)
    return answer
  }
  const socket = open(url)
  const head = 'host: 127.0.0.1\r\nauthorization: acme/ann\r\ncontent-type: application/json\r\ncontent-length: 100'
  socket.write(`POST /sessions/a/runs HTTP/1.1\r\n${head}\r\n\r\n{"input":`)
  await vi.waitFor(() => expect(answers).toHaveLength(1), 15_000)
  socket.destroy()
  expect([(await answers[0])?.status, errors]).toEqual([400, []])
})
