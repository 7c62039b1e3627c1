import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from '@modelcontextprotocol/client'
import { Client as FormerClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as FormerTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { onTestFinished } from 'vitest'

/** What a client does when it is asked. */
export interface Elicited {
  answer: { action: 'accept' | 'decline' | 'cancel'; content?: Record<string, string | number | boolean> }
  asked?: string[]
}

interface CallOptions {
  onprogress?: (progress: { message?: string }) => void
  signal?: AbortSignal
}

interface ToolResult {
  [field: string]: unknown
  content?: unknown
  structuredContent?: unknown
  isError?: unknown
}

/** A client of MCP, of either SDK. */
export interface AnyClient {
  /** The revision that it speaks with the server. */
  readonly revision: string | undefined
  readonly sessionId: string | undefined
  tools(): Promise<string[]>
  call(params: { name: string; arguments: Record<string, unknown> }, options?: CallOptions): Promise<ToolResult>
  close(): Promise<void>
}

export type Connect = (url: string, options?: { as?: string; elicits?: Elicited }) => Promise<AnyClient>

const info = { name: 'test', version: '1' }
const capabilitiesOf = (elicits?: Elicited) => (elicits ? { elicitation: {} } : {})

/** The client of `@modelcontextprotocol/client`. */
function current(mode?: VersionNegotiationMode): Connect {
  return async (url, { as = 'acme/ann', elicits } = {}) => {
    const versionNegotiation = mode === undefined ? undefined : { mode }
    const capabilities = capabilitiesOf(elicits)
    const client = new Client(info, { capabilities, ...(versionNegotiation && { versionNegotiation }) })
    if (elicits)
      client.setRequestHandler('elicitation/create', ({ params }) => {
        elicits.asked?.push(params.message)
        return elicits.answer
      })
    const requestInit = { headers: { authorization: as } }
    const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit })
    await client.connect(transport)
    onTestFinished(() => client.close())
    return {
      revision: client.getNegotiatedProtocolVersion(),
      sessionId: transport.sessionId,
      tools: async () => (await client.listTools()).tools.map(({ name }) => name),
      call: (params, options) => client.callTool(params, options),
      close: () => client.close(),
    }
  }
}

/** The client of the former `@modelcontextprotocol/sdk`. */
const former: Connect = async (url, { as = 'acme/ann', elicits } = {}) => {
  const client = new FormerClient(info, { capabilities: capabilitiesOf(elicits) })
  if (elicits)
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      elicits.asked?.push(params.message)
      return elicits.answer
    })
  const requestInit = { headers: { authorization: as } }
  const transport = new FormerTransport(new URL(`${url}/mcp`), { requestInit })
  await client.connect(transport as never)
  onTestFinished(() => client.close())
  return {
    revision: transport.protocolVersion,
    sessionId: transport.sessionId,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (params, options) => client.callTool(params, undefined, options),
    close: () => client.close(),
  }
}

/** Clients by name, each with the revision that it speaks with a server that has both. */
export const clients: readonly (readonly [name: string, revision: string, connect: Connect])[] = [
  ['of @modelcontextprotocol/sdk 1.32', '2025-11-25', former],
  ['of @modelcontextprotocol/client 2.4', '2025-11-25', current()],
  ['of @modelcontextprotocol/client 2.4, pinned to 2025-11-25', '2025-11-25', current('legacy')],
  ['of @modelcontextprotocol/client 2.4, which negotiates', '2026-07-28', current('auto')],
  ['of @modelcontextprotocol/client 2.4, pinned to 2026-07-28', '2026-07-28', current({ pin: '2026-07-28' })],
]
