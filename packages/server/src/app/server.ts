import { AlliumError } from '@allium/core'
import type { Hono } from 'hono'
import { cors } from 'hono/cors'
import { HonoBase } from 'hono/hono-base'
import { routePath } from 'hono/route'
import { TrieRouter } from 'hono/router/trie-router'
import { createHost, type Host } from '../host/host.ts'
import { errorFormatOf } from '../http/error-formats.ts'
import { checkOrigin } from '../http/origin-check.ts'
import { withTrace } from '../http/trace.ts'
import { approvalRoutes } from '../native/approvals.ts'
import { controlRoutes } from '../native/control.ts'
import { routes } from '../native/routes.ts'
import { runRoutes } from '../native/runs.ts'
import { deleteSession, sessionRoutes } from '../native/sessions.ts'
import { checkDrainOptions, checkServerOptions } from '../options/check-options.ts'
import type { ServedAgent, ServerOptions } from '../options/options.ts'
import { imageBody } from '../request/body.ts'
import { authenticate, type Ctx, canUse, type Env } from '../request/caller.ts'
import { errorResponseFor, internalErrorResponse } from '../request/error-response.ts'
import { pathNotFound } from '../request/not-found.ts'
import { Router, type Serve, type ServedRoute } from '../request/router.ts'
import { healthRoutes } from './health.ts'

/** A server without a socket: a handler of web-standard requests. */
export interface Server {
  /** Answers a request. Never rejects. */
  fetch(request: Request): Promise<Response>
  /**
   * Takes no new runs, waits for active runs, and aborts those that are left. They are stored as interrupted.
   *
   * @param options.timeout milliseconds @default 30_000
   */
  drain(options?: { timeout?: number }): Promise<void>
  /** Resolves when no run is active in this process. */
  idle(): Promise<void>
  /** The largest request body that any route accepts, in bytes. */
  readonly maxBodyBytes: number
  /** The option `hosts`. */
  readonly hosts: readonly string[] | undefined
}

/**
 * Serves one or several agents over HTTP: their runs, as streams or complete answers, their sessions and decisions.
 *
 * Mount it in any framework with web-standard requests, or use `serve()` of `@allium/server/node`. It rejects requests for which
 * `principal` returns no principal. A principal finds only sessions under their own key.
 *
 * @throws AlliumError `server.options`
 * @example
 * const { fetch } = server(agent, { principal: (request) => users.byKey(request.headers.get('authorization')) })
 */
export function server(agent: ServedAgent, options: ServerOptions): Server
export function server(options: ServerOptions & { agents: Readonly<Record<string, ServedAgent>> }): Server
export function server(
  first: ServedAgent | (ServerOptions & { agents: Readonly<Record<string, ServedAgent>> }),
  second?: ServerOptions,
): Server {
  const { agents, options } =
    second === undefined
      ? namedAgents(first as never)
      : { agents: new Map([[(first as ServedAgent).name, first as ServedAgent]]), options: second }
  checkServerOptions(options)
  const host = createHost(agents, options)
  const app = createApp(host)
  app.catch(() => {})
  return {
    // Hono's error handler does not receive thrown values that are not an Error.
    fetch: async (request) =>
      notCached(await app.then((ready) => ready.fetch(request)).catch((error) => internalErrorResponse(error, host))),
    hosts: options.hosts,
    maxBodyBytes: Math.max(host.maxBodyBytes, imageBody),
    idle: () => host.runs.idle(),
    drain: async (drainOptions) => {
      checkDrainOptions(drainOptions)
      await host.runs.drain(drainOptions?.timeout ?? 30_000)
    },
  }
}

/** Keeps an answer, which may be one user's, out of caches. Streams and files have a header of their own. */
function notCached(response: Response): Response {
  if (!response.headers.has('cache-control')) response.headers.set('cache-control', 'no-store')
  return response
}

function namedAgents({ agents, ...options }: ServerOptions & { agents?: Readonly<Record<string, ServedAgent>> }) {
  const named = new Map(Object.entries(agents ?? {}))
  if (named.size > 0) return { agents: named, options }
  throw new AlliumError(
    'server.options',
    'A server needs an agent: server(agent, options), or server({ agents: { name: agent }, … }).',
  )
}

/**
 * Creates the router. The code of a protocol is loaded only if its option is on.
 *
 * @param served receives each route that is served
 */
export async function createApp(host: Host, served: ServedRoute[] = []): Promise<Hono<Env>> {
  const protocols = await protocolsOf(host)
  // Hono's default router takes 4 ms more for the first request of a process, and saves 1 µs for each later one.
  const app = new HonoBase<Env>({ router: new TrieRouter() }).basePath(host.options.base ?? '/')
  const { options, clock, metrics } = host
  const { origins = [], hosts, trustProxy = false, base = '' } = options
  const pathOf = (path: string) => (base.length > 1 ? path.slice(base.length) : path)
  app.use('*', async (c, next) => {
    const startedAt = clock.monotonic()
    const givenId = c.req.header('x-request-id') ?? ''
    const requestId = /^[\w.:-]{1,128}$/.test(givenId) ? givenId : crypto.randomUUID()
    c.set('requestId', requestId)
    c.set('shape', errorFormatOf(pathOf(c.req.path)))
    await next()
    host.activeRequests.release(c.req.raw)
    await discardBody(c)
    // Hono's c.header() would copy the response each time.
    const { headers } = c.res
    headers.set('x-request-id', requestId)
    headers.set('x-content-type-options', 'nosniff')
    metrics.request(routePath(c, -1), c.res.status, (clock.monotonic() - startedAt) / 1000)
  })
  app.use('*', (c, next) =>
    withTrace(c.req.raw, async () => {
      checkOrigin(c.req.raw, { hosts, origins, trustProxy })
      await next()
    }),
  )
  if (origins.length > 0) app.use('*', cors({ origin: [...origins], credentials: true, exposeHeaders }))
  const router = new Router(app, host, served)
  const root = router.mount('')
  healthRoutes(router, host)
  root(routes.agents, async (c, read) => {
    const principal = await authenticate(host, c.req.raw)
    await read()
    const names: string[] = []
    for (const name of host.agents.keys()) if (await canUse(host, principal, name)) names.push(name)
    return c.json({ agents: names })
  })
  for (const serve of [root, router.mount('/agents/:agent')]) {
    runRoutes(serve, host)
    sessionRoutes(serve, host)
    approvalRoutes(serve, host)
    options.inspect?.routes(serve as never, host as never)
    options.feedback?.routes(serve as never, host as never)
    options.memory?.routes(serve as never, host as never, deleteSession as never)
    for (const { perAgent } of protocols) perAgent?.(serve)
  }
  options.operations?.routes(root as never, host as never)
  for (const { shared } of protocols) shared?.(root)
  router.rejectOtherMethods()
  app.notFound((c) => {
    throw pathNotFound(pathOf(c.req.path), options)
  })
  app.onError((error, c) => errorResponseFor(c, error, host))
  return app
}

/** Hono answers `HEAD` with the handler of `GET` and drops the body. Cancelling the body lets its reader go. */
async function discardBody(c: Ctx): Promise<void> {
  if (c.req.method !== 'HEAD' || c.res.body === null) return
  await c.res.body.cancel()
  c.res = new Response(null, c.res)
}

/** The routes of a protocol, for each agent or for all of them. */
interface ProtocolRoutes {
  perAgent?(serve: Serve): void
  shared?(serve: Serve): void
}

async function protocolsOf(host: Host): Promise<ProtocolRoutes[]> {
  const { uiStream, openai, agui, mcp } = host.options
  const protocols: ProtocolRoutes[] = []
  if (uiStream) {
    const { uiRoutes } = await import('../ui/routes.ts')
    protocols.push({
      perAgent(serve) {
        uiRoutes(serve, host, uiStream)
        controlRoutes(serve, host, '/chat/:id')
      },
    })
  }
  if (agui) {
    const { aguiRoutes } = await import('../agui/routes.ts')
    protocols.push({ perAgent: (serve) => aguiRoutes(serve, host) })
  }
  if (openai) {
    // Another entry of this package, like that of MCP, because few servers have these routes.
    const { openaiRoutes } = await import('@allium/server/openai')
    protocols.push({ shared: (serve) => openaiRoutes(serve, host) })
  }
  if (mcp) {
    const { mcpRoutes } = await import('@allium/server/mcp')
    protocols.push({ shared: (serve) => mcpRoutes(serve, host, mcp === true ? {} : mcp) })
  }
  return protocols
}

const exposeHeaders = ['x-request-id', 'retry-after']
