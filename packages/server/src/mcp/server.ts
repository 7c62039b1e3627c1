import type { Decision, PendingCall } from '@allium/core'
import { toolName } from '../host/agent-names.ts'
import type { Access, RunControl, StoreReader } from '../host/host.ts'
import { canUse, resolveCaller } from '../request/caller.ts'
import { callAgent } from './call.ts'
import type { Sdk } from './sdk.ts'

/** The HTTP request and the principal behind an MCP request. */
export interface McpRequest {
  readonly request: Request
  readonly principal: unknown
}

/** Returns an MCP server with a tool for each agent that the caller may use. */
export function mcpServer(host: Access & StoreReader & RunControl, { Server, types }: Sdk, elicitation: boolean) {
  const server = new Server({ name: 'allium', version: '1' }, { capabilities: { tools: {} } })

  server.setRequestHandler(types.ListToolsRequestSchema, async (_, extra) => {
    const { principal } = mcpRequestIn(extra)
    const tools = []
    for (const name of host.agents.keys()) if (await canUse(host, principal, name)) tools.push(toolDefinition(name))
    return { tools }
  })

  server.setRequestHandler(types.CallToolRequestSchema, async ({ params }, extra) => {
    const { request } = mcpRequestIn(extra)
    const { message, sessionId = `mcp-${crypto.randomUUID()}` } = params.arguments ?? {}
    if (typeof message !== 'string' || message === '' || typeof sessionId !== 'string')
      throw new types.McpError(
        types.ErrorCode.InvalidParams,
        'The tool takes { message, sessionId? }, which are texts.',
      )
    const caller = await resolveCaller(host, request, agentNameOf(host, params.name)).catch((error) => {
      throw new types.McpError(types.ErrorCode.InvalidParams, (error as Error).message)
    })
    const signal = AbortSignal.any([extra.signal, request.signal])
    const token = extra._meta?.progressToken
    let count = 0
    const progress = (text: string) => {
      if (token === undefined || signal.aborted) return
      const notification = { progressToken: token, progress: ++count, message: text }
      extra.sendNotification({ method: 'notifications/progress', params: notification }).catch(() => {})
    }
    const canElicit = elicitation && server.getClientCapabilities()?.elicitation !== undefined
    const options = { relatedRequestId: extra.requestId, signal, timeout: 300_000 }
    const decide = canElicit
      ? async (call: PendingCall) => toDecision(call, await server.elicitInput(elicitationOf(call), options))
      : undefined
    return callAgent(host, { caller, message, sessionId, signal, progress, decide })
  })

  return server
}

/** Passes a request to the handlers as the SDK's auth info, which needs a token: it is empty. */
export function authOf(mcpRequest: McpRequest) {
  return { token: '', clientId: '', scopes: [], extra: { ...mcpRequest } }
}

function mcpRequestIn({ authInfo }: { authInfo?: { extra?: Record<string, unknown> } }): McpRequest {
  return authInfo?.extra as unknown as McpRequest
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

function elicitationOf({ name, args, request }: PendingCall) {
  return {
    mode: 'form' as const,
    message: `${request?.reason ?? `The tool ${name} is waiting for approval.`}\n${name}(${JSON.stringify(args)})`,
    requestedSchema: {
      type: 'object' as const,
      required: ['approve'],
      properties: { approve: { type: 'boolean' as const, title: `Run ${name} with these arguments` } },
    },
  }
}

/** Denies the call unless the answer is a plain yes. */
function toDecision(
  { token }: PendingCall,
  answer: { action: string; content?: Record<string, unknown> | undefined },
): Decision {
  const approved = answer.action === 'accept' && answer.content?.approve === true
  const decision: Decision = approved ? { approve: true } : { deny: 'The person at the client has refused.' }
  return token === undefined ? decision : { ...decision, token }
}
