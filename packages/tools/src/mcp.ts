import {
  defineMiddleware,
  layerOptions,
  messageOf,
  misconfigured,
  option,
  type ToolExecution,
  type ToolResult,
  type TypedMiddleware,
} from '@allium/core'
import { Connection, type McpReconnectOptions } from './mcp/connection.ts'
import { Secrets } from './mcp/secrets.ts'
import { isHttp, type McpHttpServer, type McpServer, type McpStdioServer } from './mcp/server.ts'
import { type McpCall, Toolbox } from './mcp/toolbox.ts'

export type { McpReconnectOptions } from './mcp/connection.ts'
export type { McpHeaders, McpHttpServer, McpServer, McpStdioServer } from './mcp/server.ts'
export type { McpCall } from './mcp/toolbox.ts'

export type McpOptions = McpServer & McpLayerOptions

export interface McpLayerOptions {
  /** What the server is called here: in names of tools, in errors and in logs. */
  name: string
  /** What the names of its tools begin with. @default the name and `__` */
  prefix?: string | undefined
  /** The tools that the agent gets, by the server's names. @default all */
  include?: readonly string[] | undefined
  /** Tools that it does not get, by the server's names; stronger than `include`. @default none */
  exclude?: readonly string[] | undefined
  /** Whether a human must approve calls: all, those of some tools by the server's names, or as a function says. @default false */
  requireApproval?: boolean | readonly string[] | ((call: McpCall, ctx: ToolExecution) => boolean | Promise<boolean>)
  /**
   * The fingerprint of its tools as you have looked at them: names, descriptions and schemas. Where they are others,
   * `guard.flow` takes what the model reads of them for untrusted. The log tells the one that it should be. @default that of init()
   */
  pin?: string | undefined
  /** What its tools do besides bringing in what may be anybody's, and sending their arguments to the server, for `guard.flow`. @default nothing */
  flow?: { private?: boolean; writes?: boolean } | undefined
  /** Milliseconds for one call. @default the agent's toolTimeout */
  timeout?: number | undefined
  /** Milliseconds for the handshake, and for each page of the list of tools. @default 30_000 */
  connectTimeout?: number | undefined
  /** How a connection that dropped is tried again. */
  reconnect?: McpReconnectOptions | undefined
  /** The layer's name. @default 'tools:mcp:' and the name */
  as?: string | undefined
}

type EveryOption = McpLayerOptions & Partial<McpStdioServer & McpHttpServer>
const readOptions = layerOptions<EveryOption>('tools:mcp', {
  command: option.text,
  args: option.list(option.secret),
  env: option.any,
  cwd: option.text,
  url: option.any,
  headers: option.any,
  fetch: option.fn,
  name: option.required(option.text, 'what the server is called here'),
  prefix: option.text,
  include: option.list(option.text),
  exclude: option.list(option.text),
  requireApproval: option.either(option.flag, option.list(option.text), option.fn),
  pin: option.text,
  flow: option.shape<{ private?: boolean; writes?: boolean }>({ private: option.flag, writes: option.flag }),
  timeout: option.number({ above: 0 }),
  connectTimeout: option.number({ above: 0 }),
  reconnect: option.shape<McpReconnectOptions>({
    attempts: option.number({ from: 0 }),
    delay: option.number({ from: 0 }),
    maxDelay: option.number({ from: 0 }),
  }),
})

/**
 * Gives the agent the tools of an MCP server, over stdio or streamable HTTP.
 *
 * It connects when the agent begins and closes connection and child when it is disposed; each agent has a connection of
 * its own. What a server says is as untrusted as any tool output: put `guard.policy` or `guard.approve` around it.
 *
 * @throws AlliumError `layer.config` for options that make no sense
 * @throws AlliumError (from `init()`) `mcp.unreachable`, `mcp.not_installed`
 * @example
 * agent.use(tools.mcp({ name: 'files', command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] }))
 */
export function mcp(given: McpOptions): TypedMiddleware<{}> {
  const options = readOptions(given)
  const { name, as = `tools:mcp:${name}`, connectTimeout = 30_000, reconnect } = options
  const { prefix = `${name}__`, include, exclude = [], requireApproval = false, timeout, pin, flow } = options
  checkOptions(options, as)
  /** The names of its tools, for the tool hook; of all agents that have this layer. */
  const own = new Set<string>()

  return defineMiddleware({
    name: as,
    // Layers around it see `structuredContent` as the value.
    innermost: true,
    async agent(ctx, next) {
      const { logger, clock } = ctx
      const toolbox = new Toolbox({ name, prefix, include, exclude, requireApproval, timeout, pin, flow }, logger)
      const onTools = toolbox.update.bind(toolbox)
      const secrets = new Secrets(options)
      const connection = new Connection(
        { name, server: options, secrets, connectTimeout, logger, clock, onTools },
        reconnect,
      )
      try {
        await connection.open()
        await toolbox.checkPin()
        for (const tool of toolbox.tools(connection)) {
          try {
            ctx.registerTool(tool)
            own.add(tool.name)
          } catch (error) {
            toolbox.leftOut(tool.name, messageOf(error).replace(/\.$/, ''))
          }
        }
        await next()
      } finally {
        await connection.close()
      }
    },
    async tool(ctx, next) {
      const result = await next()
      return own.has(ctx.tool.name) ? withStructured(result) : result
    },
  })
}

function checkOptions(options: McpOptions, as: string): void {
  const { command, url } = options as { command?: unknown; url?: unknown }
  if (options.name === '') throw misconfigured(as, 'needs a name.')
  if ((command === undefined) === (url === undefined)) throw misconfigured(as, 'needs either a command or a url.')
  // The URL itself may hold a secret, and is not told.
  if (isHttp(options) && !/^https?:$/.test(protocolOf(options.url)))
    throw misconfigured(as, 'needs a url of http or https.')
}

function protocolOf(url: string | URL): string {
  return URL.canParse(String(url)) ? new URL(url).protocol : ''
}

function withStructured(result: ToolResult): ToolResult {
  const { value } = result
  if (typeof value !== 'object' || value === null || !('structuredContent' in value)) return result
  return { ...result, value: value.structuredContent }
}
