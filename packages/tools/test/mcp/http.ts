import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { fixtureServer, type Shelf } from './server.mjs'

/** A server on 127.0.0.1 that can be stopped and started at the same port. */
export interface HttpFixture {
  readonly url: string
  readonly notes: string[]
  readonly shelf: Shelf
  /** The headers of each request. */
  readonly requests: IncomingMessage['headers'][]
  /** Sessions that are open. */
  readonly sessions: ReadonlyMap<string, unknown>
  stop(): Promise<void>
  start(): Promise<void>
}

export async function httpFixture(): Promise<HttpFixture> {
  const notes: string[] = []
  const shelf: Shelf = { more: [], without: [] }
  const requests: IncomingMessage['headers'][] = []
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  let server: Server
  let port = 0

  const newSession = async () => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    })
    await fixtureServer(
      (what) => notes.push(what),
      shelf,
      () => void stop(),
    ).connect(transport)
    return transport
  }
  const start = async () => {
    server = createServer(async (request, response) => {
      requests.push(request.headers)
      const id = request.headers['mcp-session-id']
      const known = typeof id === 'string' ? sessions.get(id) : await newSession()
      if (known === undefined) return void response.writeHead(404).end('{}')
      await known.handleRequest(request, response)
    })
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
  }
  const stop = async () => {
    sessions.clear()
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  }
  await start()
  return { url: `http://127.0.0.1:${port}/mcp`, notes, shelf, requests, sessions, start, stop }
}
