import { type AgentContext, type AnyTool, delegate, type Logger, messageOf, type ToolDef } from '@allium/core'
import { modelOf } from '@allium/core/internal'
import type { Tool } from '@modelcontextprotocol/client'
import { Connection } from './connection.ts'
import { Dialogues } from './dialogues.ts'
import type { LinkSetup } from './link-setup.ts'
import type { McpOptions } from './options.ts'
import { PerPrincipal } from './per-principal.ts'
import type { McpSamplingOptions, Sampling } from './sampling.ts'
import { Secrets } from './secrets.ts'
import { isHttp, type McpPrincipalServer, type McpServer } from './server.ts'
import { ToolLists } from './tool-lists.ts'
import { Toolbox } from './toolbox.ts'

/** The server of one agent, while the agent lives. */
export interface Attached {
  /** The names of its tools in the agent. */
  readonly toolNames: ReadonlySet<string>
  readonly decline: Dialogues['decline']
  close(): Promise<void>
}

/** Connects an agent to a server and registers its tools. @throws AlliumError `mcp.unreachable`, `mcp.not_installed` */
export async function attach(ctx: AgentContext, options: McpOptions): Promise<Attached> {
  const { logger } = ctx
  const toolbox = new Toolbox(toolboxOptions(options), logger)
  const dialogues = await dialoguesOf(options, ctx)
  const setup = setupOf(options, ctx)
  const onTools = toolbox.update.bind(toolbox)
  const users = isPerPrincipal(options) ? options : undefined
  const compare = users?.tools === undefined ? toolbox.compare.bind(toolbox) : undefined
  const calls = users
    ? new PerPrincipal({ ...setup, onTools: compare }, users)
    : new Connection({ ...setup, server: options, owner: noOwner, onTools }, options.reconnect)
  const close = async () => {
    dialogues.close()
    await calls.close()
  }
  try {
    if (calls instanceof Connection) await calls.open()
    else if (users !== undefined) onTools(users.tools?.map(toListedTool) ?? (await listing(setup, users)))
    await toolbox.checkPin()
    const tools = await toolbox.tools(calls, dialogues)
    const toolNames = new Set(tools.filter((tool) => registers(ctx, tool, toolbox)).map(({ name }) => name))
    return { toolNames, decline: dialogues.decline.bind(dialogues), close }
  } catch (error) {
    await close()
    throw error
  }
}

function toolboxOptions(options: McpOptions) {
  const { name, prefix = `${name}__`, include, exclude = [], requireApproval = false, timeout, pin, flow } = options
  return { name, prefix, include, exclude, requireApproval, timeout, pin, flow }
}

function setupOf(
  options: McpOptions,
  { logger, clock }: AgentContext,
): Omit<LinkSetup, 'owner' | 'server' | 'onTools'> {
  const { name, revision, connectTimeout = 30_000, maxBytes = 4_194_304 } = options
  const given = { name, revision, connectTimeout, maxBytes, logger, clock, ...allowedOf(options) }
  return { ...given, secrets: new Secrets(options), lists: new ToolLists() }
}

async function dialoguesOf(options: McpOptions, ctx: AgentContext): Promise<Dialogues> {
  const { name, elicitation, sampling = false } = options
  const { expiresIn = 600_000 } = typeof elicitation === 'object' ? elicitation : {}
  const { canElicit } = allowedOf(options)
  return new Dialogues(name, { expiresIn, canElicit }, ctx, await samplingOf(name, sampling, ctx.logger))
}

function allowedOf({ elicitation = true, sampling = false }: McpOptions) {
  return { canElicit: elicitation !== false, canSample: sampling !== false }
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

/** Loaded only where it is allowed. It gets functions of core from here, because a bundler loads with every program what two parts share. */
async function samplingOf(name: string, given: boolean | McpSamplingOptions, logger: Logger) {
  if (given === false) return undefined
  const loaded: { Sampling: typeof Sampling } = await import('./sampling.ts')
  return new loaded.Sampling(name, given === true ? {} : given, logger, { delegate, modelOf })
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
