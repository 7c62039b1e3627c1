import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'

/** A server that tells each call whose token came with it, and notes the tokens of each connection. */
export async function usersFixture() {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const tokensOf = new Map<string, Set<string>>()
  const peak = { sessions: 0 }
  const gate = { open: Promise.resolve() as Promise<unknown> }
  const http = createServer(async (request, response) => {
    const id = request.headers['mcp-session-id']
    const known = typeof id === 'string' ? sessions.get(id) : await opened()
    if (known === undefined) return void response.writeHead(404).end('{}')
    const tokens = tokensOf.get(String(id)) ?? new Set()
    if (typeof id === 'string') tokensOf.set(id, tokens.add(String(request.headers.authorization)))
    await known.handleRequest(request, response)
  })
  async function opened() {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        sessions.set(id, transport)
        peak.sessions = Math.max(peak.sessions, sessions.size)
      },
      onsessionclosed: (id) => void sessions.delete(id),
    })
    const server = new Server({ name: 'users', version: '1.0.0' }, { capabilities: { tools: {} } })
    const inputSchema = { type: 'object' as const }
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: [{ name: 'who', description: 'Tells', inputSchema }],
    }))
    server.setRequestHandler(CallToolRequestSchema, async (_request, { requestInfo }) => {
      await gate.open
      return { content: [{ type: 'text', text: String(requestInfo?.headers.authorization) }] }
    })
    await server.connect(transport)
    return transport
  }
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const stop = () => {
    http.closeAllConnections()
    return new Promise((resolve) => http.close(resolve))
  }
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, sessions, tokensOf, peak, gate, stop }
}
