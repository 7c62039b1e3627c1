import type { ServerContext } from '@modelcontextprotocol/server'
import { toolName } from '../host/agent-names.ts'
import type { Access, RunControl, Seals, StoreReader } from '../host/host.ts'
import { type Problem, problemOf } from '../http/problem.ts'
import { withTrace } from '../http/trace.ts'
import { canUse, resolveCaller } from '../request/caller.ts'
import { callAgent, type McpCall } from './call.ts'
import { serveEmptyLists } from './empty-lists.ts'
import { openState, stateScope } from './request-state.ts'
import type { Sdk } from './sdk.ts'

/** The HTTP request and the principal behind an MCP request. */
export interface McpRequest {
  readonly request: Request
  readonly principal: unknown
}

export type McpHost = Access & StoreReader & RunControl & Seals

/** For a minute, because `canUse` may change its mind. */
const cached = { ttlMs: 60_000, cacheScope: 'private' } as const

/** Returns an MCP server with a tool for each agent that the caller may use. */
export function mcpServer(host: McpHost, sdk: Sdk, elicitation: boolean) {
  const server = new sdk.Server(
    { name: 'allium', version: '1' },
    {
      capabilities: { tools: {}, prompts: {}, resources: {} },
      cacheHints: { 'tools/list': cached, 'server/discover': cached },
      // For clients with MCP sessions. Each round needs an answer of a person.
      inputRequired: { maxRounds: 100, roundTimeoutMs: 300_000 },
    },
  )

  serveEmptyLists(server, sdk)

  server.setRequestHandler('tools/list', async (_, context) => {
    const { principal } = mcpRequestIn(context)
    const tools = []
    for (const name of host.agents.keys()) if (await canUse(host, principal, name)) tools.push(toolDefinition(name))
    return { tools }
  })

  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const { request } = mcpRequestIn(context)
    const { mcpReq } = context
    const { message, sessionId } = argumentsOf(sdk, params.arguments)
    const caller = await resolveCaller(host, request, agentNameOf(host, params.name)).catch((error) => {
      throw invalidParams(sdk, problemOf(error, host.clock.now()))
    })
    const scope = await stateScope(caller, params.arguments ?? {})
    const sealed = mcpReq.requestState<string>()
    const state =
      sealed === undefined
        ? undefined
        : await openState(host, scope, sealed).catch((error) => {
            throw invalidParams(sdk, problemOf(error, host.clock.now()), { reason: 'invalid_request_state' })
          })
    const signal = AbortSignal.any([mcpReq.signal, request.signal])
    const mcpCall: McpCall = {
      caller,
      message,
      sessionId: state?.sessionId ?? sessionId ?? `mcp-${crypto.randomUUID()}`,
      state,
      stateScope: scope,
      capabilities: elicitation ? server.getClientCapabilities() : undefined,
      responses: mcpReq.inputResponses,
      signal,
      progress: progressOf(context, signal),
    }
    let result: Awaited<ReturnType<typeof callAgent>> | undefined
    await withTrace({ headers: traceHeaders(mcpReq._meta) }, async () => {
      result = await callAgent(host, sdk, mcpCall)
    })
    return result as NonNullable<typeof result>
  })

  return server
}

/** Passes a request to the handlers as the SDK's auth info, which needs a token: it is empty. */
export function authOf(mcpRequest: McpRequest) {
  return { token: '', clientId: '', scopes: [], extra: { ...mcpRequest } }
}

function mcpRequestIn({ http }: ServerContext): McpRequest {
  return http?.authInfo?.extra as unknown as McpRequest
}

/** Returns the input of the agent: the message, or the arguments as JSON for a client that sends others. */
function argumentsOf({ ProtocolError, ProtocolErrorCode }: Sdk, args: Record<string, unknown> = {}) {
  const { sessionId, message = JSON.stringify({ ...args, sessionId: undefined }) } = args
  if (typeof message === 'string' && message !== '' && (sessionId === undefined || typeof sessionId === 'string'))
    return { message, sessionId }
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The tool takes { message, sessionId? }, which are texts.')
}

function invalidParams(
  { ProtocolError, ProtocolErrorCode }: Sdk,
  { code, message }: Problem,
  data: object = {},
): Error {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message, { ...data, code })
}

function progressOf({ mcpReq: { _meta, notify } }: ServerContext, signal: AbortSignal): McpCall['progress'] {
  const token = _meta?.progressToken
  let count = 0
  return (message) => {
    if (token === undefined || signal.aborted) return
    const params = { progressToken: token, progress: ++count, message }
    notify({ method: 'notifications/progress', params }).catch(() => {})
  }
}

/** Clients send the trace context in `_meta`, because not every transport has headers. */
function traceHeaders(meta: Readonly<Record<string, unknown>> = {}): Pick<Headers, 'get'> {
  return {
    get: (name) => {
      const value = meta[name]
      return typeof value === 'string' ? value : null
    },
  }
}

function agentNameOf({ agents }: Access, tool: string): string {
  return [...agents.keys()].find((name) => toolName(name) === tool) ?? tool
}

function toolDefinition(agent: string) {
  return {
    name: toolName(agent),
    description: `Asks the agent "${agent}". Give the sessionId of an earlier answer to go on with its conversation.`,
    inputSchema: {
      type: 'object' as const,
      required: ['message'],
      properties: { message: { type: 'string' }, sessionId: { type: 'string' } },
    },
  }
}
