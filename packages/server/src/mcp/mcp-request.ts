import type { ServerContext } from '@modelcontextprotocol/server'

/** The HTTP request and the principal behind an MCP request. */
export interface McpRequest {
  readonly request: Request
  readonly principal: unknown
}

/** Passes a request to the handlers as the SDK's auth info, which needs a token: it is empty. */
export function authOf(mcpRequest: McpRequest) {
  return { token: '', clientId: '', scopes: [], extra: { ...mcpRequest } }
}

export function mcpRequestIn({ http }: ServerContext): McpRequest {
  return http?.authInfo?.extra as unknown as McpRequest
}
