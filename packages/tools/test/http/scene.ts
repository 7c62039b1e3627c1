import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { Agent, type AnyMiddleware, type ToolResult } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { onTestFinished } from 'vitest'
import { type HttpOptions, http } from '../../src/http.ts'

/** A server of this test, with what it was asked and how many sockets are open. */
export async function serve(listener: RequestListener = (_, response) => response.end(), host = '127.0.0.1') {
  const asked: Pick<IncomingMessage, 'method' | 'url' | 'headers'>[] = []
  const sockets = new Set<object>()
  const server = createServer((request, response) => {
    asked.push({ method: request.method, url: request.url, headers: request.headers })
    listener(request, response)
  })
  let closed = () => {}
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => {
      sockets.delete(socket)
      closed()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  onTestFinished(() => void server.close().closeAllConnections())
  const { port } = server.address() as { port: number }
  /** Resolves when no socket is open. */
  const quiet = () =>
    new Promise<void>((resolve) => {
      closed = () => void (sockets.size === 0 && resolve())
      closed()
    })
  return { port, at: `127.0.0.1:${port}`, url: `http://127.0.0.1:${port}`, asked, quiet }
}

/** A server that answers with one text. */
export function serveText(
  body: string | Uint8Array,
  headers: Record<string, string> = { 'content-type': 'text/plain' },
) {
  return serve((_, response) => response.writeHead(200, headers).end(body))
}

/** What the model gets of one call, and everything that it was told. */
export async function ask(
  options: HttpOptions,
  args: Record<string, unknown> | string,
  around: AnyMiddleware[] = [],
  principal?: unknown,
) {
  const given = typeof args === 'string' ? { url: args } : args
  const model = scriptedModel([{ toolCalls: [{ name: 'http_request', args: given }] }, 'Done.'])
  const agent = new Agent({ model, logger: { warn() {}, error() {} } }).use(around).use(http(options))
  const { toolCalls } = await agent.run('go', { session: { principal } })
  const result = toolCalls[0]?.result as ToolResult
  return { result, content: result.content, error: result.error as { code?: string; cause?: unknown }, model }
}
