import { AlliumError } from '@allium/core'
import { Hono } from 'hono'
import { cors } from 'hono/cors'
import { routePath } from 'hono/route'
import { healthRoutes } from './health.ts'
import { type Host, hostOf } from './host.ts'
import { fault, refuseError } from './http/answer.ts'
import { checkPlace } from './http/gate.ts'
import { fail } from './http/problem.ts'
import { Router, type Serve, type ServedRoute } from './http/router.ts'
import { shapeOf } from './http/shapes.ts'
import { inTrace } from './http/trace.ts'
import { unserved } from './http/unserved.ts'
import { approvalRoutes } from './native/approvals.ts'
import { routes } from './native/routes.ts'
import { runRoutes } from './native/runs.ts'
import { sessionRoutes } from './native/sessions.ts'
import { checkDrainOptions, checkServerOptions, type ServedAgent, type ServerOptions } from './options.ts'
import { imageBody } from './request/body.ts'
import { type Ctx, type Env, mayUse, principalOf } from './visit.ts'

/** A server without a socket: a handler of requests as the web has them. */
export interface Server {
  /** Answers a request, and never rejects. */
  fetch(request: Request): Promise<Response>
  /**
   * Takes no new runs, waits for those that go on, and stops what is left: it is kept as interrupted.
   *
   * @param options.timeout milliseconds @default 30_000
   */
  drain(options?: { timeout?: number }): Promise<void>
  /** The largest request body that any route accepts, in bytes. */
  readonly maxBody: number
  /** The hosts that it serves, where it was given them. */
  readonly hosts: readonly string[] | undefined
}

/**
 * Serves an agent, or several by name, over HTTP: their runs as streams or whole, sessions, decisions.
 *
 * Mount it where requests of the web are taken, or with `serve()` of `@allium/server/node`. Nobody is let in whom
 * `principal` does not name, and under their key nobody else's session is found.
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
    second === undefined ? several(first as never) : { agents: one(first as ServedAgent), options: second }
  checkServerOptions(options)
  const host = hostOf(agents, options)
  const app = appOf(host)
  app.catch(() => {})
  return {
    // What is no Error passes by hono's own handler.
    fetch: async (request) => app.then((ready) => ready.fetch(request)).catch((error) => fault(error, host)),
    hosts: options.hosts,
    maxBody: Math.max(host.maxBody, imageBody),
    drain: async (options) => {
      checkDrainOptions(options)
      await host.runs.drain(options?.timeout ?? 30_000)
    },
  }
}

function one(agent: ServedAgent): Map<string, ServedAgent> {
  return new Map([[agent.name, agent]])
}

function several({ agents, ...options }: ServerOptions & { agents?: Readonly<Record<string, ServedAgent>> }) {
  const named = new Map(Object.entries(agents ?? {}))
  if (named.size > 0) return { agents: named, options }
  throw new AlliumError(
    'server.options',
    'A server needs an agent: server(agent, options), or server({ agents: { name: agent }, … }).',
  )
}

/**
 * The router. The code of a protocol is loaded where its option is on.
 *
 * @param served gets each route that is served
 */
export async function appOf(host: Host, served: ServedRoute[] = []): Promise<Hono<Env>> {
  const protocols = await protocolsOf(host)
  const app = new Hono<Env>().basePath(host.options.base ?? '/')
  const { options, clock, metrics } = host
  const { origins = [], hosts, trustProxy = false, base = '' } = options
  const pathOf = (path: string) => (base.length > 1 ? path.slice(base.length) : path)
  app.use('*', async (c, next) => {
    const began = clock.monotonic()
    const given = c.req.header('x-request-id')
    const requestId = given !== undefined && /^[\w.:-]{1,128}$/.test(given) ? given : crypto.randomUUID()
    c.set('requestId', requestId)
    c.set('shape', shapeOf(pathOf(c.req.path)))
    await next()
    host.visitors.leave(c.req.raw)
    await dropBody(c)
    c.header('x-request-id', requestId)
    c.header('x-content-type-options', 'nosniff')
    metrics.request(routePath(c, -1), c.res.status, (clock.monotonic() - began) / 1000)
  })
  app.use('*', (c, next) => inTrace(c.req.raw, next))
  app.use('*', async (c, next) => {
    checkPlace(c.req.raw, { hosts, origins, trustProxy })
    await next()
  })
  if (origins.length > 0) app.use('*', cors({ origin: [...origins], credentials: true, exposeHeaders }))
  const router = new Router(app, host, served)
  healthRoutes(router, host)
  router.at('')(routes.agents, async (c, read) => {
    const principal = await principalOf(host, c.req.raw)
    await read()
    const names: string[] = []
    for (const name of host.agents.keys()) if (await mayUse(host, principal, name)) names.push(name)
    return c.json({ agents: names })
  })
  for (const serve of [router.at(''), router.at('/agents/:agent')]) {
    runRoutes(serve, host)
    sessionRoutes(serve, host)
    approvalRoutes(serve, host)
    for (const { everywhere } of protocols) everywhere?.(serve)
  }
  for (const { once } of protocols) once?.(router.at(''))
  router.close()
  app.notFound((c) => {
    throw fail('route.not_found', unserved(pathOf(c.req.path), options))
  })
  app.onError((error, c) => refuseError(c, error, host))
  return app
}

/** Hono answers `HEAD` by the handler of `GET`, and forgets its body: what holds a reader lets it go. */
async function dropBody(c: Ctx): Promise<void> {
  if (c.req.method !== 'HEAD' || c.res.body === null) return
  await c.res.body.cancel()
  c.res = new Response(null, c.res)
}

/** Adds the routes of a protocol: for each agent, or for all of them. */
interface ProtocolRoutes {
  everywhere?(serve: Serve): void
  once?(serve: Serve): void
}

async function protocolsOf(host: Host): Promise<ProtocolRoutes[]> {
  const { uiStream, openai, agui, mcp } = host.options
  const all: ProtocolRoutes[] = []
  if (uiStream !== undefined) {
    const { uiRoutes } = await import('./ui/routes.ts')
    all.push({ everywhere: (serve) => uiRoutes(serve, host, uiStream) })
  }
  if (agui === true) {
    const { aguiRoutes } = await import('./agui/routes.ts')
    all.push({ everywhere: (serve) => aguiRoutes(serve, host) })
  }
  if (openai === true) {
    const { openaiRoutes } = await import('./openai/routes.ts')
    all.push({ once: (serve) => openaiRoutes(serve, host) })
  }
  if (mcp !== undefined && mcp !== false) {
    const { mcpRoutes } = await import('./mcp/routes.ts')
    all.push({ once: (serve) => mcpRoutes(serve, host, mcp !== true && mcp.elicitation === true) })
  }
  return all
}

const exposeHeaders = ['x-request-id', 'retry-after']
