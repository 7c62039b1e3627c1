import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AlliumError, checkOptions, type KeysOf } from '@allium/core'
import { getRequestListener } from '@hono/node-server'
import { errorFormatOf } from '../http/error-formats.ts'
import type { Server } from '../server.ts'
import { isAdmitted } from './pipelining.ts'

export interface ServeOptions {
  /** 0 is a free one. @default 3000 */
  port?: number | undefined
  /** @default '127.0.0.1' */
  hostname?: string | undefined
  /** Milliseconds in which the headers of a request are to come, or it is answered with 408. @default 10_000 */
  headersTimeout?: number | undefined
  /** Milliseconds in which all of a request is to come, its body included. @default 30_000 */
  requestTimeout?: number | undefined
  /** Connections at a time; more are closed as they come. @default 10_000 */
  maxConnections?: number | undefined
  /** Milliseconds that runs have to end when the process is to stop. @default 30_000 */
  drainTimeout?: number | undefined
  /** Whether SIGTERM and SIGINT close the server, after which nothing of it holds the process. @default true */
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

/** A server that listens. */
export interface Served {
  readonly url: string
  readonly server: HttpServer
  /** Takes no new runs, lets those that go on end, and closes. */
  close(): Promise<void>
}

/**
 * Listens on a port, with bounds on how slowly a request may come.
 *
 * Where it listens on loopback, requests for other hosts are refused, unless the server has `hosts`: a page of another site
 * could have given its own name this address.
 *
 * @throws AlliumError `server.options` where it cannot listen there: the port is in use, or is not allowed
 */
export async function serve(server: Server, options: ServeOptions = {}): Promise<Served> {
  checkOptions(options, optionKeys, 'serve()', 'server.options', { host: 'It is called hostname.' })
  const { port = 3000, hostname = '127.0.0.1', headersTimeout = 10_000, requestTimeout = 30_000 } = options
  const { drainTimeout: timeout = 30_000, signals = true } = options
  const local = server.hosts === undefined && isLoopback(hostname) ? loopbackOnly(server) : server
  const bounds = { headersTimeout, requestTimeout, connectionsCheckingInterval: Math.min(1000, headersTimeout) }
  const http = createServer(bounds, toNode(local))
  http.maxConnections = options.maxConnections ?? 10_000
  await new Promise<void>((resolve, reject) => {
    http.once('error', (error) => reject(listenError(error, hostname, port)))
    http.listen(port, hostname, resolve)
  })
  const close = once(async () => {
    for (const signal of stopSignals) process.off(signal, onSignal)
    await server.drain({ timeout })
    // What answers its last request now is not kept open for another.
    http.keepAliveTimeout = 1
    await new Promise<void>((resolve) => {
      http.close(() => resolve())
      http.closeIdleConnections()
    })
  })
  const onSignal = () => void close()
  if (signals) for (const signal of stopSignals) process.once(signal, onSignal)
  const { address, port: bound, family } = http.address() as AddressInfo
  return { url: `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`, server: http, close }
}

/** The server as a handler of `node:http`, and so of Express and Koa; also behind a parser that has read the body. */
export function toNode(server: Pick<Server, 'fetch'>): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  const listener = getRequestListener((request) => server.fetch(request), { overrideGlobalObjects: false })
  return (incoming, outgoing) => {
    if (!isAdmitted(incoming, outgoing)) return
    const parsed = incoming as IncomingMessage & { body?: unknown; rawBody?: unknown }
    if (parsed.body !== undefined && incoming.readableEnded && parsed.rawBody === undefined)
      parsed.rawBody = Buffer.from(stringifyBody(parsed.body))
    void listener(incoming, outgoing)
  }
}

/** What a parser made of a body, as a body again. One that nests too deep to be written is refused as no JSON. */
function stringifyBody(body: unknown): string {
  try {
    return JSON.stringify(body)
  } catch {
    return '…'
  }
}

/** The server as a middleware of Koa, the last one: it answers whatever comes to it. */
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
    EADDRINUSE: 'Another process listens there. Stop it, or give serve() another port; 0 is a free one.',
    EACCES: 'This process may not use that port. Give serve() one above 1023.',
    EADDRNOTAVAIL: 'This machine has no such address. Give serve() another hostname.',
  }[code ?? '']
  const message = `The server cannot listen on ${hostname}, port ${port}.`
  return new AlliumError('server.options', `${message} ${reason ?? cause.message}`, { cause })
}

const stopSignals = ['SIGTERM', 'SIGINT'] as const

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '::1' || hostname.startsWith('127.')
}

/** As the option `hosts` would, for whichever port. */
function loopbackOnly(server: Server): Server {
  const names = ['localhost', '127.0.0.1', '[::1]']
  const isLocal = (request: Request) => names.includes(new URL(request.url).hostname)
  return { ...server, fetch: async (request) => (isLocal(request) ? server.fetch(request) : misdirected(request)) }
}

function misdirected(request: Request): Response {
  const message = 'This host is not served here. See the option `hosts` of server().'
  const errorFormat = errorFormatOf(new URL(request.url).pathname)
  return Response.json(errorFormat({ status: 421, code: 'request.host', message }, crypto.randomUUID()), {
    status: 421,
  })
}

function once(fn: () => Promise<void>): () => Promise<void> {
  let called: Promise<void> | undefined
  return () => (called ??= fn())
}
