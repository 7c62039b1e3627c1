import { defineMiddleware, type ToolResult, type TypedMiddleware } from '@allium/core'
import { approvalRequestOf } from '@allium/core/context'
import { type Attached, attach } from './mcp/attach.ts'
import { type McpOptions, mcpOptions } from './mcp/options.ts'

export type { McpReconnectOptions } from './mcp/connection.ts'
export type { McpLayerOptions, McpOptions } from './mcp/options.ts'
export type { McpSamplingOptions } from './mcp/sampling.ts'
export type {
  McpAuthProvider,
  McpHeaders,
  McpHttpServer,
  McpListing,
  McpPrincipalServer,
  McpRevision,
  McpServer,
  McpStdioServer,
} from './mcp/server.ts'
export type { McpCall } from './mcp/toolbox.ts'

/**
 * Gives the agent the tools of an MCP server, over stdio or streamable HTTP.
 *
 * It connects when the agent begins, and closes the connection and the child process when the agent is disposed. Each agent has its own
 * connection. Server content is as untrusted as any tool output: put `guard.policy` or `guard.approve` around it.
 *
 * @throws AlliumError `layer.config` for invalid options
 * @throws AlliumError (from `init()`) `mcp.unreachable`, `mcp.not_installed`
 * @example
 * agent.use(tools.mcp({ name: 'files', command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] }))
 */
export function mcp(given: McpOptions): TypedMiddleware<{}> {
  const options = mcpOptions(given)
  const { name, as = `tools:mcp:${name}` } = options
  /** The connections of the agents with this layer, for the tool hook. */
  const attached = new Set<Attached>()

  return defineMiddleware({
    name: as,
    // Outer layers see `structuredContent` as the value.
    innermost: true,
    async agent(ctx, next) {
      const server = await attach(ctx, options)
      attached.add(server)
      try {
        await next()
      } finally {
        attached.delete(server)
        await server.close()
      }
    },
    async tool(ctx, next) {
      if (ctx.approval !== undefined && 'deny' in ctx.approval)
        for (const { decline } of attached) decline(approvalRequestOf(ctx))
      const result = await next()
      const isOwn = [...attached].some(({ toolNames }) => toolNames.has(ctx.tool.name))
      return isOwn ? withStructured(result) : result
    },
  })
}

function withStructured(result: ToolResult): ToolResult {
  const { value } = result
  if (typeof value !== 'object' || value === null || !('structuredContent' in value)) return result
  return { ...result, value: value.structuredContent }
}
