import type { RegisteredPrincipal, ToolDef } from '@allium/core'

/** A server that runs as a child process and communicates over stdin and stdout. */
export interface McpStdioServer {
  /** The program. It runs without a shell. */
  command: string
  args?: readonly string[]
  /**
   * Environment variables of the child besides the few that every program needs (`PATH`, `HOME`, `USER`, `SHELL`, `TERM`, `LOGNAME`;
   * others on Windows). A list copies them; a map sets them, or copies those with the value `true`. @default none
   */
  env?: readonly string[] | Readonly<Record<string, string | true>>
  /** Its working directory. @default that of this process */
  cwd?: string
}

interface HttpEndpoint {
  url: string | URL
  /**
   * Sends all requests, including those of an authorization. @default the global fetch; for authorization requests to other
   * hosts, on Node, one that checks the address of each connection
   */
  fetch?: typeof globalThis.fetch
  /**
   * Hosts with private addresses that may authorize, by exact name and port: `localhost:9000`. The server names its authorization
   * server, so requests to other private addresses are rejected. `true` allows all, for development, except metadata services.
   * @default only the server's own host
   */
  allowPrivate?: boolean | readonly string[]
}

/** A server over streamable HTTP with one connection for all sessions of the agent. */
export interface McpHttpServer extends HttpEndpoint {
  /**
   * Sent with each request. A function is called each time, for tokens that expire. It receives the principal of the calling session, or
   * undefined for the handshake and the listing of tools. All sessions share a connection, so the server must use each request's own
   * headers.
   */
  headers?: McpHeaders | ((principal: RegisteredPrincipal | undefined) => McpHeaders | Promise<McpHeaders>)
  /** Authorizes the agent itself with OAuth. For users' own tokens see `perPrincipal`. */
  authProvider?: McpAuthProvider
  perPrincipal?: false
}

/** A server over streamable HTTP with a connection per tenant and user. */
export type McpPrincipalServer = HttpEndpoint & {
  /** Opens a connection per tenant and user with the first call. A session without a user cannot call its tools. */
  perPrincipal: true
  /** Sent with each request of a connection. A function is called each time, with the principal of the connection. */
  headers?: McpHeaders | ((principal: RegisteredPrincipal) => McpHeaders | Promise<McpHeaders>)
  /** Returns the user's own provider, which has only that user's tokens. Returning the same object for two users is an error. */
  authProvider?: (principal: RegisteredPrincipal) => McpAuthProvider | Promise<McpAuthProvider>
  /** The maximum number of connections. Above that, the longest idle one is closed; if none is idle, a call waits. @default 100 */
  maxConnections?: number
} & (
    | {
        /** The credentials that list the tools at `init()`, over a temporary connection. */
        listWith: McpListing
        tools?: never
      }
    | {
        /** The tools by the server's own names, if they are not listed. */
        tools: readonly ToolDef[]
        listWith?: never
      }
  )

/** At least one of the two is required. */
export type McpListing =
  | { headers: McpHeaders | (() => McpHeaders | Promise<McpHeaders>); authProvider?: McpAuthProvider }
  | { headers?: McpHeaders | (() => McpHeaders | Promise<McpHeaders>); authProvider: McpAuthProvider }

export type McpHeaders = Readonly<Record<string, string>>

/** The SDK's `OAuthClientProvider`. Only its shape is declared here, so that the types do not need the SDK. */
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

/** A revision of the protocol: https://modelcontextprotocol.io/specification */
export type McpRevision = '2025-11-25' | '2026-07-28'

export type McpServer = McpStdioServer | McpHttpServer | McpPrincipalServer

export function isHttp(server: McpServer): server is McpHttpServer | McpPrincipalServer {
  return (server as McpHttpServer).url !== undefined
}

/** Returns the location of a server without possible secrets: arguments, query, user and password. */
export function endpointOf(server: McpServer): string {
  if (!isHttp(server)) return `command ${server.command}`
  const { origin, pathname } = new URL(server.url)
  return origin + pathname
}
