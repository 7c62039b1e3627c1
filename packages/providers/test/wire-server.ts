import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Received {
  path: string
  headers: IncomingHttpHeaders
  body: Record<string, never>
}
export type Answer = (res: ServerResponse, received: Received) => void

/** A server on this machine that answers each request with the next of `answers`, and then with the last one. */
export async function wireServer(...answers: Answer[]) {
  const requests: Received[] = []
  const server = createServer(async (req, res) => {
    let body = ''
    for await (const piece of req.setEncoding('utf8')) body += piece
    const received = { path: req.url!, headers: req.headers, body: JSON.parse(body) }
    const answer = answers[Math.min(requests.push(received), answers.length) - 1]!
    answer(res, received)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  let sockets = 0
  server.on('connection', () => sockets++)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    /** How many connections were made. */
    sockets: () => sockets,
  }
}

const eventStream = { 'content-type': 'text/event-stream' }

export function sse(body: string): Answer {
  return (res) => res.writeHead(200, eventStream).end(body)
}

/** One byte in each write, so that no event and no character arrives whole. */
export function byteByByte(body: string): Answer {
  return async (res) => {
    res.writeHead(200, eventStream)
    res.socket!.setNoDelay(true)
    for (const byte of Buffer.from(body)) await new Promise((written) => res.write(Buffer.of(byte), written))
    res.end()
  }
}

/** Ends the answer in good order after `bytes`, as a proxy does whose upstream was lost. */
export function cutAt(body: string, bytes: number): Answer {
  return (res) => res.writeHead(200, eventStream).end(Buffer.from(body).subarray(0, bytes))
}

/** Breaks the socket after `bytes`. */
export function breakAt(body: string, bytes: number): Answer {
  return (res) =>
    res.writeHead(200, eventStream).write(Buffer.from(body).subarray(0, bytes), () => res.socket!.destroy())
}

export function status(code: number, body: string, headers: Record<string, string> = {}): Answer {
  return (res) => res.writeHead(code, headers).end(body)
}

/** Sends `body` and then neither more nor an end; `closed` resolves when the caller closes the socket. */
export function stall(body: string): { answer: Answer; closed: Promise<void> } {
  let close = () => {}
  const closed = new Promise<void>((resolve) => {
    close = resolve
  })
  const answer: Answer = (res) => {
    res.on('close', close)
    res.writeHead(200, eventStream).write(body)
  }
  return { answer, closed }
}
