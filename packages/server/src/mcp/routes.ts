import type { McpHttpHandler } from '@modelcontextprotocol/server'
import type { Access, Limits, RunControl, Seals, StoreReader } from '../host/host.ts'
import { type Problem, requestError } from '../http/problem.ts'
import { authenticate, type Ctx } from '../request/caller.ts'
import { route } from '../request/route.ts'
import type { Serve } from '../request/router.ts'
import { anyObject, optional, text } from '../request/schema.ts'
import { authOf } from './mcp-request.ts'
import { loadSdk, type Sdk } from './sdk.ts'
import { mcpServer } from './server.ts'
import { createMcpSessions, type McpSessions } from './sessions.ts'

const headers = {
  accept: optional(text({ max: 4096 })),
  'mcp-session-id': optional(text({ min: 1, max: 256 })),
  'mcp-protocol-version': optional(text({ min: 1, max: 256 })),
  'mcp-method': optional(text({ max: 256 })),
  'mcp-name': optional(text({ max: 4096 })),
}
const base = { path: '/mcp', answers: { 200: 'Foreign' }, headers, ignoresUnknown: true } as const

/** A request or a notification of JSON-RPC. The SDK parses the rest of it, and compares it with the headers. */
const message = anyObject({
  required: ['jsonrpc', 'method'],
  properties: {
    jsonrpc: { const: '2.0' },
    id: { type: 'string' },
    method: { type: 'string' },
    params: { type: 'object' },
  },
})

const routes = {
  post: route({ ...base, method: 'post', summary: 'Send an MCP message', body: message, streams: 'onRequest' }),
  get: route({ ...base, method: 'get', summary: 'Listen to messages of the MCP server', streams: 'always' }),
  delete: route({ ...base, method: 'delete', summary: 'End an MCP session' }),
}

/**
 * Adds the route of MCP over streamable HTTP, in the revisions since 2026-07-28, in which each request is independent, and in the earlier
 * ones: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
 */
export function mcpRoutes(
  serve: Serve,
  host: Access & StoreReader & RunControl & Limits & Seals,
  { elicitation = false }: { readonly elicitation?: boolean | undefined },
): void {
  let loaded: { readonly sdk: Sdk; readonly handler: McpHttpHandler } | undefined
  let sessions: McpSessions | undefined

  serve(routes.post, async (c, read) => {
    const mcpRequest = await mcpRequestOf(c)
    const { body } = await read()
    answerWithId(c, body.id)
    const { sdk, handler } = await load()
    const isLegacy = await sdk.isLegacyRequest(mcpRequest.request, body)
    if (isLegacy && elicitation) return inSession(mcpRequest, body)
    // The SDK would hold a stream open that never says anything, because agents do not change.
    if (!isLegacy && body.method === 'subscriptions/listen') return methodNotFound(body.id)
    return handler.fetch(mcpRequest.request, { parsedBody: body, authInfo: authOf(mcpRequest) })
  })

  // Without MCP sessions there is nothing to read or to end.
  for (const sessionRoute of elicitation ? [routes.get, routes.delete] : [])
    serve(sessionRoute, async (c, read) => {
      const mcpRequest = await mcpRequestOf(c)
      await read()
      return inSession(mcpRequest, undefined)
    })

  async function load() {
    if (loaded !== undefined) return loaded
    const sdk = await loadSdk()
    const factory = () => mcpServer(host, sdk, elicitation)
    return (loaded ??= { sdk, handler: sdk.createMcpHandler(factory, { keepAliveMs: host.heartbeat }) })
  }

  async function inSession(
    mcpRequest: Awaited<ReturnType<typeof mcpRequestOf>>,
    body: unknown,
  ): Promise<Response | Problem> {
    sessions ??= createMcpSessions(host, (await load()).sdk)
    return sessions.handle(mcpRequest, body)
  }

  async function mcpRequestOf(c: Ctx) {
    checkHost(host, c.req.raw)
    return { principal: await authenticate(host, c.req.raw), request: c.req.raw }
  }
}

/** Puts the id of the request into the errors of the server, too. */
function answerWithId(c: Ctx, id: unknown): void {
  if (typeof id !== 'string' && typeof id !== 'number') return
  const format = c.get('shape')
  c.set('shape', (problem, requestId) => ({ ...format(problem, requestId), id }))
}

function methodNotFound(id: unknown): Response {
  const error = { code: -32_601, message: 'Method not found' }
  return Response.json({ jsonrpc: '2.0', id: id ?? null, error }, { status: 404 })
}

/** Without `hosts`, only loopback names are served: another site could point its domain at this server's address (DNS rebinding). */
function checkHost({ options: { hosts } }: Access, request: Request): void {
  const host = request.headers.get('host') ?? new URL(request.url).host
  if (hosts === undefined && !/^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i.test(host))
    throw requestError(
      'request.host',
      'The server does not accept this host. MCP needs it in the option `hosts` of server().',
    )
}
