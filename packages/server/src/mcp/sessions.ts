import type { SessionKey } from '@allium/core'
import type { Limits } from '../host/host.ts'
import type { Permit } from '../http/fair-share.ts'
import { requestError } from '../http/problem.ts'
import type { ServedAgent } from '../options/options.ts'
import { ownerOf } from '../request/caller.ts'
import { authOf, type McpRequest } from './mcp-request.ts'
import type { Sdk } from './sdk.ts'
import { mcpServer } from './server.ts'
import type { McpHost } from './tool-call.ts'

type Transport = InstanceType<Sdk['WebStandardStreamableHTTPServerTransport']>

/** MCP sessions, in which the server can send requests to the client. */
export interface McpSessions {
  handle(mcpRequest: McpRequest, body: unknown): Promise<Response>
}

interface McpSession {
  readonly transport: Transport
  readonly ownerId: string
  readonly permit: Permit
  lastUsedAt: number
}

/** Milliseconds after which an idle session is closed. */
const idleTimeout = 30 * 60_000

/** Returns the MCP sessions of this process. Each belongs to the user who opened it. */
export function createMcpSessions(host: McpHost & Limits, sdk: Sdk): McpSessions {
  const sessions = new Map<string, McpSession>()

  async function openSession(owner: Owner, mcpRequest: McpRequest, body: unknown): Promise<Response> {
    closeIdle()
    let sessionId: string | undefined
    const permit = host.shares.mcpSessions.acquire(owner, () =>
      sessionId === undefined ? void transport.close() : closeSession(sessionId),
    )
    const transport: Transport = new sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => {
        sessionId = id
        sessions.set(id, { transport, ownerId: ownerIdOf(owner), permit, lastUsedAt: host.clock.now() })
      },
      onsessionclosed: closeSession,
      keepAliveMs: host.heartbeat,
    })
    try {
      await mcpServer(host, sdk, true).connect(transport)
      return await forward(transport, mcpRequest, body)
    } finally {
      // A request that opened no session holds no permit.
      if (sessionId === undefined) permit.release()
    }
  }

  function closeSession(id: string | undefined): void {
    const session = id === undefined ? undefined : sessions.get(id)
    if (id === undefined || session === undefined) return
    sessions.delete(id)
    session.permit.release()
    void session.transport.close()
  }

  function closeIdle(): void {
    for (const [id, { lastUsedAt }] of sessions) if (host.clock.now() - lastUsedAt >= idleTimeout) closeSession(id)
  }

  return {
    async handle(mcpRequest, body) {
      const [agent] = host.agents.values()
      const owner = ownerOf(agent as ServedAgent, mcpRequest.principal)
      const id = mcpRequest.request.headers.get('mcp-session-id')
      if (id === null) return openSession(owner, mcpRequest, body)
      const session = sessions.get(id)
      if (session?.ownerId !== ownerIdOf(owner))
        throw requestError('session.not_found', 'This MCP session does not exist or has ended. Initialize a new one.')
      session.lastUsedAt = host.clock.now()
      session.permit.touch()
      return forward(session.transport, mcpRequest, body)
    },
  }
}

function forward(transport: Transport, mcpRequest: McpRequest, body: unknown): Promise<Response> {
  return transport.handleRequest(mcpRequest.request, { parsedBody: body, authInfo: authOf(mcpRequest) })
}

type Owner = Pick<SessionKey, 'tenant' | 'owner'>

function ownerIdOf({ tenant, owner }: Owner): string {
  return JSON.stringify([tenant, owner])
}
