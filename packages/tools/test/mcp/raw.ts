import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

interface Request {
  readonly id?: number
  readonly method: string
  readonly params?: { readonly name?: string; readonly cursor?: string }
}

/** How a server answers a message, or a request that is no POST by its HTTP method; undefined for what the plain one does. */
type Answer = (request: Request, response: ServerResponse, incoming: IncomingMessage) => boolean | undefined

const tool = { name: 'read', description: 'Reads', inputSchema: { type: 'object' } }

/** A server that speaks JSON-RPC over HTTP by hand, so that it can misbehave, until the test is over. */
export async function rawServer(answer: Answer) {
  /** Bytes that sockets were given, also those that nobody read. */
  const written = { bytes: 0 }
  const http = createServer(async (incoming, response) => {
    response.on('close', () => (written.bytes += response.socket?.bytesWritten ?? 0))
    if (response.headersSent) return
    const { method = '' } = incoming
    if (method !== 'POST') return void (answer({ method }, response, incoming) || response.writeHead(405).end())
    let text = ''
    for await (const chunk of incoming) text += chunk
    const request = JSON.parse(text) as Request
    if (request.id === undefined) return void response.writeHead(202).end()
    if (answer(request, response, incoming) !== true)
      json(response, { jsonrpc: '2.0', id: request.id, result: plain(request) })
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    http.closeAllConnections()
    http.close()
  })
  const { port } = http.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/mcp`, at: `127.0.0.1:${port}`, written, http }
}

export function json(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** Writes the same piece until its reader goes away. */
export function endless(response: ServerResponse, piece: string): void {
  const more = () => {
    while (!response.destroyed && response.write(piece));
  }
  response.on('drain', more)
  more()
}

function plain({ method }: Request): object {
  if (method === 'initialize')
    return { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'raw', version: '1' } }
  if (method === 'ping') return {}
  return method === 'tools/list' ? { tools: [tool] } : { content: [{ type: 'text', text: 'read' }] }
}
