import { AlliumError } from '@allium/core'

/** What is used of the official SDK. */
export type Sdk = Pick<typeof import('@modelcontextprotocol/sdk/client/index.js'), 'Client'> &
  Pick<typeof import('@modelcontextprotocol/sdk/client/stdio.js'), 'StdioClientTransport'> &
  Pick<
    typeof import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    'StreamableHTTPClientTransport' | 'StreamableHTTPError'
  > &
  Pick<
    typeof import('@modelcontextprotocol/sdk/types.js'),
    'CallToolResultSchema' | 'ErrorCode' | 'ListToolsResultSchema' | 'McpError' | 'ToolListChangedNotificationSchema'
  > &
  Pick<typeof import('@modelcontextprotocol/sdk/validation/ajv'), 'AjvJsonSchemaValidator'>

/** Loads the SDK, which is an optional peer, when an agent with servers begins. @throws AlliumError `mcp.not_installed` */
export async function loadSdk(): Promise<Sdk> {
  try {
    const [client, stdio, http, types, validation] = await Promise.all([
      import('@modelcontextprotocol/sdk/client/index.js'),
      import('@modelcontextprotocol/sdk/client/stdio.js'),
      import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
      import('@modelcontextprotocol/sdk/types.js'),
      import('@modelcontextprotocol/sdk/validation/ajv'),
    ])
    return { ...client, ...stdio, ...http, ...types, ...validation }
  } catch (cause) {
    throw new AlliumError(
      'mcp.not_installed',
      'MCP servers need the package @modelcontextprotocol/sdk, which cannot be loaded. Install it: npm install @modelcontextprotocol/sdk.',
      { cause },
    )
  }
}
