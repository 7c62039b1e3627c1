import type { ToolDef } from '@allium/core'

/** A server that is started as a child process, and spoken to over its stdin and stdout. */
export interface McpStdioServer {
  /** The program. No shell stands between. */
  command: string
  args?: readonly string[]
  /**
   * Variables of the child besides the few that every program needs (`PATH`, `HOME`, `USER`, `SHELL`, `TERM`, `LOGNAME`;
   * others on Windows). Names are passed on; a map sets them, or passes on where it says `true`. @default none
   */
  env?: readonly string[] | Readonly<Record<string, string | true>>
  /** Its working folder. @default that of this process */
  cwd?: string
}

interface HttpEndpoint {
  url: string | URL
  /**
   * Sends the requests, those of an authorization too. @default the global fetch; for requests of an authorization to other
   * hosts, on Node, one that checks the address of each connection
   */
  fetch?: typeof globalThis.fetch
  /**
   * Hosts at private addresses that may authorize, each by its exact name, with its port: `localhost:9000`. The server names
   * where it wants an authorization from, so requests to other private addresses are refused. `true`: all, for development; those of
   * metadata services are refused even then. @default none but the server's own
   */
  allowPrivate?: boolean | readonly string[]
}

/** A server that is reached over streamable HTTP, by one connection for all sessions of the agent. */
export interface McpHttpServer extends HttpEndpoint {
  /**
   * Sent with each request; a function is asked each time, for tokens that expire. It gets the principal of the session whose call it is; undefined for
   * the handshake and the listing of tools, which are the agent's. All share one connection: the server is to go by each request's own headers.
   */
  headers?: McpHeaders | ((principal: unknown) => McpHeaders | Promise<McpHeaders>)
  /** Authorizes the agent itself by OAuth. For users' own tokens see `perPrincipal`. */
  authProvider?: McpAuthProvider
  perPrincipal?: false
}

/** A server over streamable HTTP with a connection for each user of each tenant. */
export type McpPrincipalServer = HttpEndpoint & {
  /** One connection per tenant and user, made by the first call. A session without a user calls nothing. */
  perPrincipal: true
  /** Sent with each request of a connection; a function is asked each time, with the principal that it is for. */
  headers?: McpHeaders | ((principal: unknown) => McpHeaders | Promise<McpHeaders>)
  /** Gives the user's own provider, with tokens of nobody else: one object for two users is refused. */
  authProvider?: (principal: unknown) => McpAuthProvider | Promise<McpAuthProvider>
  /** At so many the one that is idle longest is closed; if none is, a call waits. @default 100 */
  maxConnections?: number
} & (
    | {
        /** With whose rights the tools are listed at `init()`; that connection is closed again. */
        listWith: McpListing
        tools?: never
      }
    | {
        /** The tools, by the server's own names, where nobody is to list them. */
        tools: readonly ToolDef[]
        listWith?: never
      }
  )

/** At least one of the two. */
export type McpListing =
  | { headers: McpHeaders | (() => McpHeaders | Promise<McpHeaders>); authProvider?: McpAuthProvider }
  | { headers?: McpHeaders | (() => McpHeaders | Promise<McpHeaders>); authProvider: McpAuthProvider }

export type McpHeaders = Readonly<Record<string, string>>

/** What the SDK calls `OAuthClientProvider`: give one of those. Only its shape stands here, so that types need no SDK. */
export interface McpAuthProvider {
  readonly redirectUrl: string | URL | undefined
  readonly clientMetadata: object
  clientInformation(): unknown
  tokens(): unknown
  saveTokens(tokens: never): unknown
  redirectToAuthorization(url: URL): unknown
  saveCodeVerifier(verifier: string): unknown
  codeVerifier(): unknown
}

export type McpServer = McpStdioServer | McpHttpServer | McpPrincipalServer

export function isHttp(server: McpServer): server is McpHttpServer | McpPrincipalServer {
  return (server as McpHttpServer).url !== undefined
}

/** Where a server is, without what may be secret: arguments, query, user and password. */
export function endpointOf(server: McpServer): string {
  if (!isHttp(server)) return `command ${server.command}`
  const { origin, pathname } = new URL(server.url)
  return origin + pathname
}
