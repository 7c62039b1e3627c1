import { AlliumError } from '@allium/core'
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import type { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { withAuthorization } from './authorization.ts'
import { Callers } from './callers.ts'
import type { Caller } from './link.ts'
import type { Sdk } from './sdk.ts'
import { type Secrets, variables } from './secrets.ts'
import { isHttp, type McpHttpServer, type McpPrincipalServer, type McpServer, type McpStdioServer } from './server.ts'

/** A way to a server, not yet taken. */
export interface Route {
  readonly transport: StdioClientTransport | StreamableHTTPClientTransport
  /** The child's process id, once it runs. */
  readonly pid?: () => number | undefined
  /** Sends a message of a caller's, whose headers it gets. */
  readonly sendFor?: <T>(caller: Caller, send: () => T) => T
  /** In whose call the server asks something, if that can be told. */
  readonly asked?: (question: unknown) => Caller | undefined
  /** Tells the server that its session ends. */
  readonly farewell?: () => Promise<void>
}

/**
 * @param owner whose connection it is; undefined for the agent's own
 * @param onLine a line that a child wrote to its stderr
 */
export async function routeTo(
  server: McpServer,
  sdk: Sdk,
  secrets: Secrets,
  owner: () => unknown,
  onLine: (line: string) => void,
): Promise<Route> {
  return isHttp(server) ? httpRoute(server, sdk, secrets, owner) : stdioRoute(server, sdk, onLine)
}

function stdioRoute(server: McpStdioServer, sdk: Sdk, onLine: (line: string) => void): Route {
  const { command, args = [], env, cwd } = server
  if (sdk.StdioClientTransport === undefined)
    throw new AlliumError(
      'mcp.unreachable',
      `The MCP server ${JSON.stringify(command)} is a program, and this bundle was not made for Node.js, where programs run. Give the url of a server.`,
    )
  const transport = new sdk.StdioClientTransport({
    command,
    args: [...args],
    env: variables(env),
    stderr: 'pipe',
    ...(cwd !== undefined && { cwd }),
  })
  readLines(transport, onLine)
  // The SDK forgets the process when it begins to close it.
  let pid: number | undefined
  const start = transport.start.bind(transport)
  transport.start = async () => {
    await start()
    pid = transport.pid ?? undefined
  }
  return { transport, pid: () => pid }
}

async function httpRoute(
  { url, headers = {}, fetch = globalThis.fetch, authProvider }: McpHttpServer | McpPrincipalServer,
  sdk: Sdk,
  secrets: Secrets,
  owner: () => unknown,
): Promise<Route> {
  const callers = new Callers()
  const place = new URL(url)
  const withHeaders: typeof fetch = async (to, init) => {
    const given = typeof headers === 'function' ? await headers(callers.of(init?.body)?.principal ?? owner()) : headers
    // Before they are set: what refuses one quotes it.
    secrets.add(Object.values(given))
    const all = new Headers(init?.headers)
    for (const [name, value] of Object.entries(given)) all.set(name, value)
    secrets.add([all.get('authorization') ?? ''])
    return callers.listening(await fetch(to, { ...init, headers: all }), init?.body)
  }
  const provider = (typeof authProvider === 'function' ? await authProvider(owner()) : authProvider) as
    | OAuthClientProvider
    | undefined
  const asked = provider === undefined ? withHeaders : withAuthorization(withHeaders, { provider, place, fetch, sdk })
  // The requests of an authorization go elsewhere, and get none of the headers.
  const send: typeof fetch = (to, init) => (isMessage(init) ? asked(to, init) : fetch(to, init))
  const options = { fetch: send, ...(provider !== undefined && { authProvider: provider }) }
  const transport = new sdk.StreamableHTTPClientTransport(place, options)
  callers.watch(transport)
  return {
    transport,
    sendFor: (caller, send) => callers.sendFor(caller, send),
    asked: (question) => callers.asked(question),
    farewell: () => transport.terminateSession(),
  }
}

/** Whether a request is one of the protocol, and none of an authorization. */
function isMessage(init: RequestInit | undefined): boolean {
  return init?.method === 'DELETE' || (new Headers(init?.headers).get('accept') ?? '').includes('text/event-stream')
}

/** Reads the child's stderr: a pipe that nobody reads stops the child. */
function readLines(transport: StdioClientTransport, onLine: (line: string) => void): void {
  const decoder = new TextDecoder()
  let rest = ''
  transport.stderr?.on('data', (chunk: Uint8Array) => {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = (lines.pop() ?? '').slice(-maxLine)
    for (const line of lines) if (line.trim() !== '') onLine(line.slice(0, maxLine))
  })
}

const maxLine = 2_000
