import type { CallToolRequest, CallToolResult, InputRequiredResult, ServerContext } from '@modelcontextprotocol/server'
import { toolName } from '../host/agent-names.ts'
import type { Access, RunControl, Seals, StoreReader } from '../host/host.ts'
import { type Problem, problemOf } from '../http/problem.ts'
import { withTrace } from '../http/trace.ts'
import { resolveCaller } from '../request/caller.ts'
import { callAgent, type McpCall } from './call.ts'
import { mcpRequestIn } from './mcp-request.ts'
import { openState, stateScope } from './request-state.ts'
import type { Sdk } from './sdk.ts'

export type McpHost = Access & StoreReader & RunControl & Seals

/** Calls an agent, as a part of the trace of the client. */
export async function callTool(
  host: McpHost,
  sdk: Sdk,
  { params }: CallToolRequest,
  context: ServerContext,
  capabilities: McpCall['capabilities'],
): Promise<CallToolResult | InputRequiredResult> {
  const mcpCall = { ...(await mcpCallOf(host, sdk, params, context)), capabilities }
  let result: CallToolResult | InputRequiredResult | undefined
  await withTrace({ headers: traceHeaders(context.mcpReq._meta) }, async () => {
    result = await callAgent(host, sdk, mcpCall)
  })
  return result as CallToolResult | InputRequiredResult
}

async function mcpCallOf(
  host: McpHost,
  sdk: Sdk,
  params: CallToolRequest['params'],
  context: ServerContext,
): Promise<Omit<McpCall, 'capabilities'>> {
  const { request } = mcpRequestIn(context)
  const { mcpReq } = context
  const { message, sessionId } = argumentsOf(sdk, params.arguments)
  const refuse = (data?: object) => (error: unknown) => {
    throw invalidParams(sdk, problemOf(error, host.clock.now()), data)
  }
  const caller = await resolveCaller(host, request, agentNameOf(host, params.name)).catch(refuse())
  const scope = await stateScope(caller, params.arguments ?? {})
  const sealed = mcpReq.requestState<string>()
  const opened = sealed === undefined ? undefined : openState(host, scope, sealed)
  const state = await opened?.catch(refuse({ reason: 'invalid_request_state' }))
  const signal = AbortSignal.any([mcpReq.signal, request.signal])
  return {
    caller,
    message,
    sessionId: state?.sessionId ?? sessionId ?? `mcp-${crypto.randomUUID()}`,
    state,
    stateScope: scope,
    responses: mcpReq.inputResponses,
    signal,
    progress: progressOf(context, signal),
  }
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
