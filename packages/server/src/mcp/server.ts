import { toolName } from '../host/agent-names.ts'
import { canUse } from '../request/caller.ts'
import { serveEmptyLists } from './empty-lists.ts'
import { mcpRequestIn } from './mcp-request.ts'
import type { Sdk } from './sdk.ts'
import { callTool, type McpHost } from './tool-call.ts'

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

  server.setRequestHandler('tools/call', (request, context) =>
    callTool(host, sdk, request, context, elicitation ? server.getClientCapabilities() : undefined),
  )

  return server
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
