import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AlliumError } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import { getRequestListener, type Http2Bindings, type HttpBindings } from '@hono/node-server'
import type { Server } from '../app/server.ts'
import { errorFormatOf } from '../http/error-formats.ts'
import { isAdmitted } from './pipelining.ts'
import { writeStream } from './write-stream.ts'

export interface ServeOptions {
  /** 0 picks a free port. @default 3000 */
  port?: number | undefined
  /** @default '127.0.0.1' */
  hostname?: string | undefined
  /** Milliseconds for the headers of a request to arrive; after that it is answered with 408. @default 10_000 */
  headersTimeout?: number | undefined
  /** Milliseconds for a whole request to arrive, including its body. @default 30_000 */
  requestTimeout?: number | undefined
  /** Most connections at a time. Further ones are closed immediately. @default 10_000 */
  maxConnections?: number | undefined
  /** Milliseconds for runs to end when the process stops. Open connections are closed a second later. @default 30_000 */
  drainTimeout?: number | undefined
  /** Whether SIGTERM and SIGINT close the server. A closed server does not keep the process alive. @default true */
  signals?: boolean | undefined
}

const optionKeys: KeysOf<ServeOptions> = {
  port: true,
  hostname: true,
  headersTimeout: true,
  requestTimeout: true,
  maxConnections: true,
  drainTimeout: true,
  signals: true,
}

/** A listening server. */
export interface Served {
  readonly url: string
  readonly server: HttpServer
  /** Takes no new runs, waits for active ones, and closes. Connections that are still open after another second are cut. */
  close(): Promise<void>
}

/**
 * Listens on a port, with timeouts for slow requests.
 *
 * On a loopback address it rejects requests for other hosts, unless the server has `hosts`: another site could point its domain at this
 * address (DNS rebinding).
 *
 * @throws AlliumError `server.options` if it cannot listen there: the port is in use, is not allowed, or is no port
 */
export async function serve(server: Server, options: ServeOptions = {}): Promise<Served> {
  checkOptions(options, optionKeys, 'serve()', 'server.options', { host: 'It is called hostname.' })
  const { port = 3000, hostname = '127.0.0.1', headersTimeout = 10_000, requestTimeout = 30_000 } = options
  const { drainTimeout: timeout = 30_000, signals = true } = options
  const local = server.hosts === undefined && isLoopback(hostname) ? loopbackOnly(server) : server
  const bounds = { headersTimeout, requestTimeout, connectionsCheckingInterval: Math.min(1000, headersTimeout) }
  const http = createServer(bounds, toNode(local))
  // A server that closes does not keep a connection for another request.
  http.on('request', ({ socket }, response) => response.once('finish', () => http.listening || socket.end()))
  http.maxConnections = options.maxConnections ?? 10_000
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject)
    http.listen(port, hostname, resolve)
  }).catch((error) => {
    throw listenError(error, hostname, port)
  })
  const close = once(async () => {
    for (const signal of stopSignals) process.off(signal, onSignal)
    await server.drain({ timeout })
    await new Promise<void>((resolve) => {
      // Node has no limit for connections without a request, which proxies and browsers open ahead, nor for clients that stop reading.
      const timer = setTimeout(() => http.closeAllConnections(), responseGrace)
      http.close(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  })
  const onSignal = () => void close()
  if (signals) for (const signal of stopSignals) process.once(signal, onSignal)
  const { address, port: bound, family } = http.address() as AddressInfo
  return { url: `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`, server: http, close }
}

/** Returns the server as a handler for `node:http`, and so for Express and Koa. It also works after a body parser. */
export function toNode(server: Pick<Server, 'fetch'>): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  const answer = async (request: Request, { incoming, outgoing }: HttpBindings | Http2Bindings) => {
    const response = await server.fetch(request)
    return incoming.httpVersionMajor < 2 && writeStream(response, outgoing as ServerResponse) ? alreadySent : response
  }
  const listener = getRequestListener(answer, { overrideGlobalObjects: false })
  return (incoming, outgoing) => {
    if (!isAdmitted(incoming, outgoing)) return
    const parsed = incoming as IncomingMessage & { body?: unknown; rawBody?: unknown }
    if (parsed.body !== undefined && incoming.readableEnded && parsed.rawBody === undefined)
      parsed.rawBody = Buffer.from(stringifyBody(parsed.body))
    void listener(incoming, outgoing)
  }
}

/** Tells the adapter that the response was written: https://github.com/honojs/node-server#direct-response-from-nodejs-api */
const alreadySent = new Response(null, { headers: { 'x-hono-already-sent': 'true' } })

/** Serializes a parsed body again. A body that is too deep to serialize is rejected as invalid JSON. */
function stringifyBody(body: unknown): string {
  try {
    return JSON.stringify(body)
  } catch {
    return '…'
  }
}

/** Returns the server as Koa middleware. Use it last, because it answers every request. */
export function toKoa(server: Pick<Server, 'fetch'>): (ctx: KoaContext) => void {
  const handle = toNode(server)
  return (ctx) => {
    ctx.respond = false
    const { request = {} } = ctx as { request?: { body?: unknown } }
    handle(Object.assign(ctx.req, request.body === undefined ? {} : { body: request.body }), ctx.res)
  }
}

interface KoaContext {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  respond?: boolean
}

function listenError(cause: Error, hostname: string, port: number): AlliumError {
  const { code } = cause as { code?: string }
  const reason = {
    EADDRINUSE:
      'Another process is already listening there. Stop it, or pass another port to serve(), for example from the variable PORT; 0 picks a free one.',
    ERR_SOCKET_BAD_PORT:
      'A port is a whole number from 0 to 65535. Pass one to serve(), for example from the variable PORT.',
    EACCES: 'This process may not use that port. Pass a port above 1023 to serve().',
    EADDRNOTAVAIL: 'This machine has no such address. Pass another hostname to serve().',
  }[code ?? '']
  const message = `The server cannot listen on ${hostname}, port ${port}.`
  return new AlliumError('server.options', `${message} ${reason ?? cause.message}`, { cause })
}

/** Milliseconds that connections stay open after the runs have ended, so that clients get the rest of their responses. */
const responseGrace = 1000

const stopSignals = ['SIGTERM', 'SIGINT'] as const

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '::1' || hostname.startsWith('127.')
}

/** Like the option `hosts`, for any port. */
function loopbackOnly(server: Server): Server {
  const names = ['localhost', '127.0.0.1', '[::1]']
  const isLocal = (request: Request) => names.includes(new URL(request.url).hostname)
  return { ...server, fetch: async (request) => (isLocal(request) ? server.fetch(request) : misdirected(request)) }
}

function misdirected(request: Request): Response {
  const message = 'The server does not accept this host. To allow it, add it to the option `hosts` of server().'
  const errorFormat = errorFormatOf(new URL(request.url).pathname)
  return Response.json(errorFormat({ status: 421, code: 'request.host', message }, crypto.randomUUID()), {
    status: 421,
    headers: { 'cache-control': 'no-store' },
  })
}

function once(fn: () => Promise<void>): () => Promise<void> {
  let called: Promise<void> | undefined
  return () => (called ??= fn())
}
