import {
  type AgentContext,
  type AnyTool,
  defineMiddleware,
  type Logger,
  messageOf,
  type ToolDef,
  type ToolResult,
  type TypedMiddleware,
} from '@allium/core'
import { approvalRequestOf } from '@allium/core/context'
import type { Tool } from '@modelcontextprotocol/client'
import { Connection } from './mcp/connection.ts'
import { Dialogues } from './mcp/dialogues.ts'
import type { LinkSetup } from './mcp/link-setup.ts'
import { type McpOptions, mcpOptions } from './mcp/options.ts'
import { PerPrincipal } from './mcp/per-principal.ts'
import { type McpSamplingOptions, Sampling } from './mcp/sampling.ts'
import { Secrets } from './mcp/secrets.ts'
import { isHttp, type McpPrincipalServer, type McpServer } from './mcp/server.ts'
import { ToolLists } from './mcp/tool-lists.ts'
import { Toolbox } from './mcp/toolbox.ts'

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
  const { name, as = `tools:mcp:${name}`, connectTimeout = 30_000, maxBytes = 4_194_304, reconnect, revision } = options
  const {
    prefix = `${name}__`,
    include,
    exclude = [],
    requireApproval = false,
    timeout,
    pin,
    flow,
    elicitation = true,
    sampling = false,
  } = options
  /** The names of its tools in all agents with this layer, for the tool hook. */
  const ownTools = new Set<string>()
  const declines = new Set<Dialogues['decline']>()

  return defineMiddleware({
    name: as,
    // Outer layers see `structuredContent` as the value.
    innermost: true,
    async agent(ctx, next) {
      const { logger, clock } = ctx
      const toolbox = new Toolbox({ name, prefix, include, exclude, requireApproval, timeout, pin, flow }, logger)
      const onTools = toolbox.update.bind(toolbox)
      const allowed = { canElicit: elicitation !== false, canSample: sampling !== false }
      const lists = new ToolLists()
      const limits = { connectTimeout, maxBytes }
      const setup = { name, revision, secrets: new Secrets(options), ...limits, lists, logger, clock, ...allowed }
      const { expiresIn = 600_000 } = typeof elicitation === 'object' ? elicitation : {}
      const dialogues = new Dialogues(name, { expiresIn, ...allowed }, ctx, samplingOf(name, sampling, logger))
      const forget = dialogues.decline.bind(dialogues)
      declines.add(forget)
      const users = isPerPrincipal(options) ? options : undefined
      const compare = users?.tools === undefined ? toolbox.compare.bind(toolbox) : undefined
      const calls = users
        ? new PerPrincipal({ ...setup, onTools: compare }, users)
        : new Connection({ ...setup, server: options, owner: noOwner, onTools }, reconnect)
      try {
        if (calls instanceof Connection) await calls.open()
        else if (users !== undefined) onTools(users.tools?.map(toListedTool) ?? (await listing(setup, users)))
        await toolbox.checkPin()
        const tools = await toolbox.tools(calls, dialogues)
        for (const tool of tools) if (registers(ctx, tool, toolbox)) ownTools.add(tool.name)
        await next()
      } finally {
        declines.delete(forget)
        dialogues.close()
        await calls.close()
      }
    },
    async tool(ctx, next) {
      if (ctx.approval !== undefined && 'deny' in ctx.approval)
        for (const decline of declines) decline(approvalRequestOf(ctx))
      const result = await next()
      return ownTools.has(ctx.tool.name) ? withStructured(result) : result
    },
  })
}

/** Whether the agent takes a tool. It is left out if, for example, another tool has its name. */
function registers(ctx: AgentContext, tool: AnyTool, toolbox: Toolbox): boolean {
  try {
    ctx.registerTool(tool)
    return true
  } catch (error) {
    toolbox.skipTool(tool.name, messageOf(error).replace(/\.$/, ''))
    return false
  }
}

function samplingOf(name: string, given: boolean | McpSamplingOptions, logger: Logger): Sampling | undefined {
  return given === false ? undefined : new Sampling(name, given === true ? {} : given, logger)
}

function isPerPrincipal(server: McpServer): server is McpPrincipalServer {
  return isHttp(server) && server.perPrincipal === true
}

/** Returns the tools that `listWith` sees, over a temporary connection. */
async function listing(
  setup: Omit<LinkSetup, 'owner' | 'server' | 'onTools'>,
  { url, fetch, allowPrivate, listWith }: McpPrincipalServer,
): Promise<readonly Tool[]> {
  let tools: readonly Tool[] = []
  const server = {
    url,
    ...listWith,
    ...(fetch !== undefined && { fetch }),
    ...(allowPrivate !== undefined && { allowPrivate }),
  }
  const onTools = (listed: readonly Tool[]) => void (tools = listed)
  const connection = new Connection({ ...setup, server, owner: noOwner, onTools }, 'by calls alone')
  try {
    await connection.open()
    return tools
  } finally {
    await connection.close()
  }
}

function toListedTool({ name, description, jsonSchema }: ToolDef): Tool {
  return { name, description, inputSchema: jsonSchema as Tool['inputSchema'] }
}

function noOwner(): undefined {}

function withStructured(result: ToolResult): ToolResult {
  const { value } = result
  if (typeof value !== 'object' || value === null || !('structuredContent' in value)) return result
  return { ...result, value: value.structuredContent }
}
