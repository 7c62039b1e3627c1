import { AlliumError } from '@allium/core'
import type { OAuthClientProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { authorizationFetch } from './authorization-fetch.ts'
import { boundedResponse } from './bounded-response.ts'
import type { Caller } from './callers.ts'
import type { LinkSetup } from './link-setup.ts'
import { adaptMessages } from './messages.ts'
import type { Sdk } from './sdk.ts'
import { variables } from './secrets.ts'
import { isHttp, type McpHttpServer, type McpPrincipalServer, type McpStdioServer } from './server.ts'

/** A transport to a server that is not connected yet. */
export interface Route {
  readonly transport: StdioClientTransport | StreamableHTTPClientTransport
  /** Returns the child's process id once it runs. */
  readonly pid?: () => number | undefined
  /** Returns the options of a request by which its caller is known. */
  readonly headersFor?: (caller: Caller) => Record<string, string>
  /** Returns the caller whose call a question belongs to, if that is known. */
  readonly callerOf?: (question: unknown) => Caller | undefined
  /** Notifies the server that the session ends. */
  readonly farewell?: () => Promise<void>
}

/** @param onLine receives each line that a child writes to stderr */
export async function routeTo(setup: LinkSetup, sdk: Sdk, onLine: (line: string) => void): Promise<Route> {
  const { server, maxBytes } = setup
  const route = await (isHttp(server) ? httpRoute(server, setup, sdk) : stdioRoute(server, maxBytes, sdk, onLine))
  adaptMessages(route.transport)
  return route
}

function stdioRoute(server: McpStdioServer, maxBytes: number, sdk: Sdk, onLine: (line: string) => void): Route {
  const { command, args = [], env, cwd } = server
  if (sdk.StdioClientTransport === undefined)
    throw new AlliumError(
      'mcp.unreachable',
      `The MCP server ${JSON.stringify(command)} is a program, but this bundle was not built for Node.js, which is needed to run programs. Pass the url of a server.`,
    )
  const transport = new sdk.StdioClientTransport({
    command,
    args: [...args],
    env: variables(env),
    stderr: 'pipe',
    maxBufferSize: maxBytes,
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
  { url, headers = {}, fetch: customFetch, authProvider, allowPrivate = [] }: McpHttpServer | McpPrincipalServer,
  { name, secrets, owner, maxBytes, connectTimeout, logger }: LinkSetup,
  sdk: Sdk,
): Promise<Route> {
  const fetch = customFetch ?? globalThis.fetch
  const { Callers } = await import('./callers.ts')
  const callers = new Callers()
  const place = new URL(url)
  const withHeaders: typeof fetch = async (to, init) => {
    const resolvedHeaders =
      typeof headers === 'function' ? await headers(callers.of(init?.body)?.principal ?? owner()) : headers
    // Added before they are set, because an error about an invalid header quotes it.
    secrets.add(Object.values(resolvedHeaders))
    const all = new Headers(init?.headers)
    for (const [header, value] of Object.entries(resolvedHeaders)) all.set(header, value)
    secrets.add([all.get('authorization') ?? ''])
    const response = await fetch(to, { ...init, headers: all })
    return callers.trackResponse(await boundedResponse(response, init?.body, maxBytes), init?.body)
  }
  const own = (typeof authProvider === 'function' ? await authProvider(owner()) : authProvider) as
    | OAuthClientProvider
    | undefined
  const oauth = own && (await import('./oauth.ts'))
  const provider = own && oauth?.withBoundTokens(own, () => logger.warn(unboundToken(name)))
  // Authorization requests go to other servers and receive none of the headers.
  const elsewhere = authorizationFetch({
    name,
    place,
    fetch: customFetch,
    allowPrivate,
    timeout: connectTimeout,
    logger,
  })
  const callerOf =
    (provider && oauth?.withAuthorization(withHeaders, { provider, place, fetch: elsewhere, sdk })) ?? withHeaders
  const routedFetch: typeof fetch = (to, init) => (isMessage(init) ? callerOf(to, init) : elsewhere(to, init))
  // `withAuthorization` steps up. A second refusal is an error.
  const onInsufficientScope = 'throw' as const
  const options = { fetch: routedFetch, onInsufficientScope, ...(provider !== undefined && { authProvider: provider }) }
  const transport = new sdk.StreamableHTTPClientTransport(place, options)
  callers.watch(transport)
  return {
    transport,
    headersFor: (caller) => callers.headersFor(caller),
    callerOf: (question) => callers.callerOf(question),
    farewell: () => transport.terminateSession(),
  }
}

function unboundToken(name: string): string {
  return `The refresh token for the MCP server "${name}" is not used, because it does not name the authorization server that granted it. Store what saveTokens() receives unchanged, with its \`issuer\`.`
}

/** Whether a request belongs to the protocol and not to an authorization. */
function isMessage(init: RequestInit | undefined): boolean {
  return init?.method === 'DELETE' || (new Headers(init?.headers).get('accept') ?? '').includes('text/event-stream')
}

/** Reads the child's stderr, because a full pipe would block the child. */
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
