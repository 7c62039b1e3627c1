import { layerOptions, misconfigured, option, type ToolDef, type ToolExecution } from '@allium/core'
import { HostList } from '../http/host-list.ts'
import type { McpReconnectOptions } from './connection.ts'
import type { McpSamplingOptions } from './sampling.ts'
import {
  isHttp,
  type McpHttpServer,
  type McpListing,
  type McpPrincipalServer,
  type McpRevision,
  type McpServer,
  type McpStdioServer,
} from './server.ts'
import type { McpCall } from './toolbox.ts'

export type McpOptions = McpServer & McpLayerOptions

export interface McpLayerOptions {
  /** The server's name in tool names, errors and logs. */
  name: string
  /** The prefix of its tools' names. @default the name and `__` */
  prefix?: string | undefined
  /** The tools that the agent receives, by the server's names. @default all */
  include?: readonly string[] | undefined
  /** Tools that it does not receive, by the server's names; overrides `include`. @default none */
  exclude?: readonly string[] | undefined
  /**
   * Whether a human must approve calls: all of them, those of some tools by the server's names, or those that a function selects. @default
   * false
   */
  requireApproval?: boolean | readonly string[] | ((call: McpCall, ctx: ToolExecution) => boolean | Promise<boolean>)
  /**
   * The fingerprint of the reviewed tools: names, descriptions and schemas. If the tools differ, `guard.flow` treats their listing as
   * untrusted, and the log contains the new fingerprint. @default that of init()
   */
  pin?: string | undefined
  /** What its tools do for `guard.flow`, besides bringing in untrusted text and sending their arguments to the server. @default nothing */
  flow?: { private?: boolean; writes?: boolean } | undefined
  /**
   * Whether the server may ask questions during a call, which then waits for `session.resume()` with the answers as `data`. `expiresIn` is
   * the
   * time in milliseconds until the question is declined. @default true, with 600_000
   */
  elicitation?: boolean | { expiresIn?: number | undefined } | undefined
  /**
   * Whether the server may request model answers during a call. They run inside the call, like a sub-agent: layers with `inherit` wrap
   * them, and their usage is the run's. @default false
   */
  sampling?: boolean | McpSamplingOptions | undefined
  /** Timeout of one call, in milliseconds. @default the agent's toolTimeout */
  timeout?: number | undefined
  /** Timeout of the handshake and of each page of the tool list, in milliseconds. @default 30_000 */
  connectTimeout?: number | undefined
  /**
   * The maximum size of one message of the server in bytes: a result, a page of its tool list, an event. A call with a larger result fails
   * with `mcp.too_large`, which the model receives. @default 4_194_304
   */
  maxBytes?: number | undefined
  /**
   * The revision of MCP that the server speaks. Without it the server is asked, and one that does not know the question is taken as
   * one of 2025-11-25. @default negotiated
   */
  revision?: McpRevision | undefined
  /** How a dropped connection is retried. */
  reconnect?: McpReconnectOptions | undefined
  /** The layer's name. @default 'tools:mcp:' and the name */
  as?: string | undefined
}

interface PrincipalOptions {
  authProvider?: unknown
  perPrincipal?: boolean
  listWith?: McpListing
  tools?: readonly ToolDef[]
  maxConnections?: number
}
type EveryOption = McpLayerOptions &
  Partial<McpStdioServer & Omit<McpHttpServer, keyof PrincipalOptions>> &
  PrincipalOptions
const readOptions = layerOptions<EveryOption>('tools:mcp', {
  command: option.text,
  args: option.list(option.secret),
  env: option.any,
  cwd: option.text,
  url: option.any,
  headers: option.any,
  fetch: option.fn,
  authProvider: option.any,
  perPrincipal: option.flag,
  listWith: option.object,
  tools: option.list(option.object),
  maxConnections: option.whole(1),
  name: option.required(option.text, 'what the server is called here'),
  prefix: option.text,
  include: option.list(option.text),
  exclude: option.list(option.text),
  requireApproval: option.either(option.flag, option.list(option.text), option.fn),
  pin: option.text,
  flow: option.shape<{ private?: boolean; writes?: boolean }>({ private: option.flag, writes: option.flag }),
  elicitation: option.either(
    option.flag,
    option.shape<{ expiresIn?: number }>({ expiresIn: option.number({ above: 0 }) }),
  ),
  sampling: option.either(
    option.flag,
    option.shape<McpSamplingOptions>({ model: option.any, maxOutputTokens: option.whole(1), perCall: option.whole(1) }),
  ),
  timeout: option.number({ above: 0 }),
  connectTimeout: option.number({ above: 0 }),
  maxBytes: option.whole(1),
  allowPrivate: option.either(option.flag, option.list(option.text)),
  revision: option.oneOf('2025-11-25', '2026-07-28'),
  reconnect: option.shape<McpReconnectOptions>({
    attempts: option.number({ from: 0 }),
    delay: option.number({ from: 0 }),
    maxDelay: option.number({ from: 0 }),
  }),
})

/** @throws AlliumError `layer.config` */
export function mcpOptions(given: McpOptions): McpOptions {
  const options = readOptions(given) as McpOptions
  const { name, as = `tools:mcp:${name}` } = options
  checkOptions(options, as)
  if (isHttp(options)) {
    checkOwners(options, as)
    // Throws for invalid host names.
    if (typeof options.allowPrivate === 'object') new HostList(as, ['*'], options.allowPrivate)
  }
  return options
}

function checkOptions(options: McpOptions, as: string): void {
  const { command, url } = options as { command?: unknown; url?: unknown }
  if (options.name === '') throw misconfigured(as, 'needs a name.')
  if ((command === undefined) === (url === undefined)) throw misconfigured(as, 'needs either a command or a url.')
  if (!isHttp(options))
    for (const optionName of ['authProvider', 'perPrincipal', 'listWith', 'tools', 'maxConnections', 'allowPrivate'])
      if ((options as unknown as Record<string, unknown>)[optionName] !== undefined)
        throw misconfigured(
          as,
          `has ${optionName}, which only works with a url. A program always runs as the user of this process.`,
        )
  // The error omits the URL, which may contain a secret.
  if (isHttp(options) && !/^https?:$/.test(protocolOf(options.url)))
    throw misconfigured(as, 'needs an http or https url.')
}

/** Repeats the checks of the types: with whose rights calls are made and tools are listed. */
function checkOwners(options: McpHttpServer | McpPrincipalServer, as: string): void {
  const { authProvider, perPrincipal = false, listWith, tools, maxConnections }: PrincipalOptions = options
  const isFunction = typeof authProvider === 'function'
  if (authProvider !== undefined && typeof authProvider !== 'object' && !isFunction)
    throw misconfigured(
      as,
      'needs authProvider to be an OAuthClientProvider, or with perPrincipal a function that returns one.',
    )
  if (!perPrincipal) {
    if (isFunction)
      throw misconfigured(
        as,
        'has an authProvider for each user, but one connection for all users. Set perPrincipal: true.',
      )
    for (const [optionName, value] of Object.entries({ listWith, tools, maxConnections }))
      if (value !== undefined) throw misconfigured(as, `has ${optionName}, which requires perPrincipal: true.`)
    return
  }
  if (authProvider !== undefined && !isFunction)
    throw misconfigured(as, 'has one authProvider for all users. With perPrincipal, pass a function of the principal.')
  if ((listWith === undefined) === (tools === undefined))
    throw misconfigured(
      as,
      'lists its tools at init(), before there is a user. With perPrincipal, also pass either listWith: { headers } or { authProvider }, or tools: the definitions themselves.',
    )
  if (listWith !== undefined && listWith.headers === undefined && listWith.authProvider === undefined)
    throw misconfigured(as, 'needs headers or an authProvider in listWith.')
}

function protocolOf(url: string | URL): string {
  return URL.canParse(String(url)) ? new URL(url).protocol : ''
}
