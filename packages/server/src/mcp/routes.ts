import type { Hono } from 'hono'
import type { Host } from '../host.ts'
import { refusing } from '../http/answer.ts'
import { readObject } from '../http/body.ts'
import { fail, type Problem } from '../http/problem.ts'
import { type Ctx, type Env, principalOf } from '../visit.ts'
import { type Dialogs, dialogs } from './dialogs.ts'
import { loadSdk } from './sdk.ts'
import { authOf, mcpServer } from './server.ts'

/** The route of MCP over streamable HTTP: https://modelcontextprotocol.io/specification/2025-11-25/basic/transports */
export function mcpRoutes(app: Hono<Env>, host: Host, elicitation: boolean): void {
  let open: Dialogs | undefined

  app.all(
    '/mcp',
    refusing(
      host,
      rpcError,
    )(async (c) => {
      checkHost(host, c.req.raw)
      const principal = await principalOf(host, c.req.raw)
      const sdk = await loadSdk()
      const asked = { principal, request: c.req.raw }
      if (elicitation) {
        open ??= dialogs(host, sdk)
        return open.answer(asked, await bodyOf(host, c))
      }
      if (c.req.method !== 'POST') return c.body(null, 405, { allow: 'POST' })
      const server = mcpServer(host, sdk, false)
      const transport = new sdk.Transport({ keepAliveMs: host.heartbeat })
      await server.connect(transport as never)
      return transport.handleRequest(c.req.raw, { parsedBody: await bodyOf(host, c), authInfo: authOf(asked) })
    }),
  )
}

async function bodyOf(host: Host, c: Ctx): Promise<unknown> {
  return c.req.method === 'POST' ? readObject(c.req.raw, host.maxBody) : undefined
}

/** A page could have given its own name the address of a server without `hosts`: it serves loopback names alone. */
function checkHost({ options: { hosts } }: Host, request: Request): void {
  const host = request.headers.get('host') ?? new URL(request.url).host
  if (hosts === undefined && !/^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i.test(host))
    throw fail('request.host', 'This host is not served here. See the option `hosts` of server(), which MCP needs.')
}

function rpcError({ code, message }: Problem): object {
  return { jsonrpc: '2.0', id: null, error: { code: -32_000, message, data: { code } } }
}
