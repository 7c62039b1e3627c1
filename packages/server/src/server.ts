import { AlliumError } from '@allium/core'
import { Hono } from 'hono'
import { cors } from 'hono/cors'
import { routePath } from 'hono/route'
import { aguiRoutes } from './agui/routes.ts'
import { healthRoutes } from './health.ts'
import { type Host, hostOf } from './host.ts'
import { fault, refuseError } from './http/answer.ts'
import { checkPlace } from './http/gate.ts'
import { fail } from './http/problem.ts'
import { inTrace } from './http/trace.ts'
import { mcpRoutes } from './mcp/routes.ts'
import { approvalRoutes } from './native/approvals.ts'
import { runRoutes } from './native/runs.ts'
import { sessionRoutes } from './native/sessions.ts'
import { openaiRoutes } from './openai/routes.ts'
import { checkServerOptions, type ServedAgent, type ServerOptions } from './options.ts'
import { uiRoutes } from './ui/routes.ts'
import { type Env, mayUse, principalOf } from './visit.ts'

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
  return {
    // What is no Error passes by hono's own handler.
    fetch: async (request) => Promise.resolve(app.fetch(request)).catch((error) => fault(error, host)),
    hosts: options.hosts,
    drain: ({ timeout = 30_000 } = {}) => host.runs.drain(timeout),
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

/** The router, for who wants to know its routes. */
export function appOf(host: Host): Hono<Env> {
  const app = new Hono<Env>().basePath(host.options.base ?? '/')
  const { options, clock, metrics } = host
  const { origins = [], hosts, trustProxy = false } = options
  app.use('*', async (c, next) => {
    const began = clock.monotonic()
    const given = c.req.header('x-request-id')
    const requestId = given !== undefined && /^[\w.:-]{1,128}$/.test(given) ? given : crypto.randomUUID()
    c.set('requestId', requestId)
    await next()
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
  healthRoutes(app, host)
  app.get('/agents', async (c) => {
    const principal = await principalOf(host, c.req.raw)
    const names: string[] = []
    for (const name of host.agents.keys()) if (await mayUse(host, principal, name)) names.push(name)
    return c.json({ agents: names })
  })
  for (const at of ['', '/agents/:agent']) {
    runRoutes(app, host, at)
    sessionRoutes(app, host, at)
    approvalRoutes(app, host, at)
    if (options.agui === true) aguiRoutes(app, host, at)
    if (options.uiStream !== undefined) uiRoutes(app, host, at, options.uiStream)
  }
  if (options.openai === true) openaiRoutes(app, host)
  if (options.mcp !== undefined && options.mcp !== false)
    mcpRoutes(app, host, options.mcp !== true && options.mcp.elicitation === true)
  app.notFound(() => {
    throw fail('route.not_found', 'There is no such path, or no such agent.')
  })
  app.onError((error, c) => refuseError(c, error, host))
  return app
}

const exposeHeaders = ['x-request-id', 'retry-after']
