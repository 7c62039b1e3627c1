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

/** A server that is reached over streamable HTTP. */
export interface McpHttpServer {
  url: string | URL
  /**
   * Sent with each request; a function is asked each time, for tokens that expire. It gets the principal of the session whose call it is; undefined for
   * the handshake and the listing of tools, which are the agent's. All share one connection: the server is to go by each request's own headers.
   */
  headers?: McpHeaders | ((principal: unknown) => McpHeaders | Promise<McpHeaders>)
  /** Sends the requests. @default the global fetch */
  fetch?: typeof globalThis.fetch
}

export type McpHeaders = Readonly<Record<string, string>>

export type McpServer = McpStdioServer | McpHttpServer

export function isHttp(server: McpServer): server is McpHttpServer {
  return (server as McpHttpServer).url !== undefined
}

/** Where a server is, without what may be secret: arguments, query, user and password. */
export function placeOf(server: McpServer): string {
  if (!isHttp(server)) return `command ${server.command}`
  const { origin, pathname } = new URL(server.url)
  return origin + pathname
}
