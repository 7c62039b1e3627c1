import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { z } from 'zod'

/** An MCP server over streamable HTTP on 127.0.0.1. After a restart it has the same port, and no earlier sessions. */
export async function weatherServer(token: string) {
  let http: Server
  let port = 0

  async function start() {
    const sessions = new Map<string, StreamableHTTPServerTransport>()
    http = createServer(async (request, response) => {
      if (request.headers.authorization !== `Bearer ${token}`) return void response.writeHead(401).end()
      const id = request.headers['mcp-session-id']
      const transport = id === undefined ? await newSession(sessions) : sessions.get(String(id))
      if (transport === undefined) return void response.writeHead(404).end()
      await transport.handleRequest(request, response)
    })
    http.listen(port, '127.0.0.1')
    await once(http, 'listening')
    port = (http.address() as AddressInfo).port
  }

  async function stop() {
    if (!http.listening) return
    http.close()
    http.closeAllConnections()
    await once(http, 'close')
  }

  await start()
  return { url: `http://127.0.0.1:${port}/mcp`, start, stop }
}

async function newSession(sessions: Map<string, StreamableHTTPServerTransport>) {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void sessions.set(id, transport),
  })
  const server = new McpServer({ name: 'weather', version: '1.0.0' })
  server.registerTool(
    'today',
    { description: 'Tells the weather of today.', inputSchema: { city: z.string() } },
    ({ city }) => ({ content: [{ type: 'text', text: `Rain in ${city}, 4 °C.` }] }),
  )
  await server.connect(transport)
  return transport
}
