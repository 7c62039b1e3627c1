import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { DevRoutes } from './dev-routes.ts'
import type { Journal } from './journal.ts'
import type { LiveAgent } from './live-agent.ts'
import { proxy } from './proxy.ts'
import { checkRequest, cookieName } from './request-check.ts'
import { serveFile } from './static-files.ts'

export interface PageServerOptions {
  readonly port: number
  readonly token: string
  readonly key: string
  readonly agent: LiveAgent
  readonly journal: Journal
  readonly dev: DevRoutes
}

/** Serves the page, the API of the agent's process, and the journal, to requests with the token. */
export async function servePage(options: PageServerOptions): Promise<{ port: number; server: Server }> {
  const server = createServer((request, response) => {
    // An unhandled rejection would end the process, and the agent with it.
    respond(request, response).catch(() => (response.headersSent ? response.destroy() : end(response, 500, failed)))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, options.port)))
    server.listen(options.port, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return { port, server }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value)
    const admission = checkRequest(request, { token: options.token, port })
    if (!admission.admitted) return end(response, admission.status, admission.reason)
    const { pathname } = admission
    if (admission.setsCookie) return signIn(response, pathname)
    if (pathname.startsWith('/api/')) return proxy(request, response, options)
    if (pathname === '/dev/journal') return streamJournal(response)
    if (pathname.startsWith('/dev/')) return options.dev(request, response)
    return serveFile(request, response, pathname)
  }

  /** Moves the token from the address to a cookie, so that it is in no history and no `Referer`. */
  function signIn(response: ServerResponse, pathname: string): void {
    const attributes = 'Path=/; HttpOnly; SameSite=Strict'
    // A path that begins with two slashes would name another host.
    const location = pathname.replace(/^\/+/, '/')
    response.writeHead(303, { location, 'set-cookie': `${cookieName(port)}=${options.token}; ${attributes}` })
    response.end()
  }

  function streamJournal(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
    const stop = options.journal.follow((entries) => response.write(`data: ${JSON.stringify(entries)}\n\n`))
    response.once('close', stop)
  }
}

function listenError(cause: Error, port: number): Error {
  if ((cause as { code?: string }).code !== 'EADDRINUSE') return cause
  return new Error(
    `Port ${port} is in use. Stop the other process, or choose another port with --port; 0 picks a free one. With npm: npm run dev -- --port 0`,
    { cause },
  )
}

const failed = 'The inspector failed to answer this request.'

const securityHeaders = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
}

function end(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`)
}
