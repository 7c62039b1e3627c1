import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'

/** An MCP server over streamable HTTP on 127.0.0.1. After a restart it has the same port. */
export async function weatherServer(token: string) {
  const mcp = createMcpHandler(server)
  const listener = getRequestListener((request) => {
    if (request.headers.get('authorization') !== `Bearer ${token}`) return new Response(null, { status: 401 })
    return mcp.fetch(request)
  })
  let http: Server
  let port = 0

  async function start() {
    http = createServer(listener)
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

function server() {
  const server = new McpServer({ name: 'weather', version: '1.0.0' })
  server.registerTool(
    'today',
    { description: 'Tells the weather of today.', inputSchema: z.object({ city: z.string() }) },
    ({ city }) => ({ content: [{ type: 'text', text: `Rain in ${city}, 4 °C.` }] }),
  )
  return server
}
