import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Answers one request. */
export type Answer = (response: ServerResponse) => void

export interface Served {
  url: string
  /** The requests and the status of their responses. */
  log: string[]
  close(): void
}

/** A server on 127.0.0.1 that answers each request with the next response, and repeats the last one. */
export async function serve(name: string, answers: readonly { as: string; answer: Answer }[]): Promise<Served> {
  const log: string[] = []
  const server = createServer(async (request, response) => {
    for await (const _ of request); // read the whole request first
    const { as, answer } = answers[Math.min(log.length, answers.length - 1)] as (typeof answers)[number]
    log.push(`${name} ${request.method} ${request.url}: ${as}`)
    answer(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    log,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** An error of the provider before the answer. */
export function refuse(status: number, message: string, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify({ error: { type: 'error', message } }))
  }
}

/** One event of a stream. */
export interface WireEvent {
  type: string
  [field: string]: unknown
}

/** Events of a stream, each with its type. With `cut`, the connection breaks after them. */
export function send(events: readonly WireEvent[], { cut = false } = {}): Answer {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
    if (cut)
      response.write(body, () => setTimeout(() => response.destroy(), 20)) // let the data arrive first
    else response.end(body)
  }
}
