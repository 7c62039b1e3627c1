import { ask } from '../kit.ts'

export const revision = '2026-07-28'

interface Asked {
  /** The authorization of the caller. @default 'acme/ann' */
  as?: string
  capabilities?: object
  meta?: object
  headers?: Record<string, string>
}

/** A request of MCP 2026-07-28. */
export async function rpc(url: string, method: string, params: object = {}, asked: Asked = {}) {
  const { as, capabilities = {}, meta, headers } = asked
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    ...meta,
  }
  const { uri, name = uri } = params as { name?: string; uri?: string }
  const response = await ask(`${url}/mcp`, {
    ...(as !== undefined && { as }),
    body: { jsonrpc: '2.0', id: 7, method, params: { ...params, _meta } },
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': revision,
      'mcp-method': method,
      ...(name !== undefined && { 'mcp-name': name }),
      ...headers,
    },
  })
  const text = await response.text()
  const [, data = text] = /^data: (\{.*"(?:result|error)".*)$/m.exec(text) ?? []
  return { status: response.status, ...(JSON.parse(data) as Answer) }
}

export interface Answer {
  id: unknown
  result?: ToolResult
  error?: { code: number; message: string; data?: Record<string, unknown> }
}

interface ToolResult {
  [field: string]: unknown
  content?: { type: string; text?: string }[]
  structuredContent?: { sessionId: string; status: string; code?: string }
  inputRequests?: Record<string, { method: string; params: { message: string; requestedSchema: object } }>
  requestState?: string
}
