import { AlliumError } from '@allium/core'

/** The parts of the official SDK that are used. */
export type Sdk = Pick<typeof import('@modelcontextprotocol/sdk/client/index.js'), 'Client'> &
  Partial<Pick<typeof import('@modelcontextprotocol/sdk/client/stdio.js'), 'StdioClientTransport'>> &
  Pick<
    typeof import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    'StreamableHTTPClientTransport' | 'StreamableHTTPError'
  > &
  Pick<
    typeof import('@modelcontextprotocol/sdk/client/auth.js'),
    'UnauthorizedError' | 'auth' | 'extractWWWAuthenticateParams'
  > &
  Pick<
    typeof import('@modelcontextprotocol/sdk/types.js'),
    | 'CallToolResultSchema'
    | 'CreateMessageRequestSchema'
    | 'ElicitRequestSchema'
    | 'ErrorCode'
    | 'ListToolsResultSchema'
    | 'McpError'
    | 'ToolListChangedNotificationSchema'
  >

/**
 * Loads the SDK, an optional peer dependency, when an agent with servers begins. Each import has its own catch, so that bundlers leave
 * a missing module to run time. `#mcp-stdio` is empty in a bundle for a browser or an edge runtime.
 * @throws AlliumError `mcp.not_installed`
 */
export async function loadSdk(): Promise<Sdk> {
  try {
    const [client, stdio, http, oauth, types] = await Promise.all([
      import('@modelcontextprotocol/sdk/client/index.js').catch(notInstalled),
      import('#mcp-stdio').catch(notInstalled),
      import('@modelcontextprotocol/sdk/client/streamableHttp.js').catch(notInstalled),
      import('@modelcontextprotocol/sdk/client/auth.js').catch(notInstalled),
      import('@modelcontextprotocol/sdk/types.js').catch(notInstalled),
    ])
    return { ...client, ...stdio, ...http, ...oauth, ...types }
  } catch (cause) {
    throw new AlliumError(
      'mcp.not_installed',
      'MCP servers need the package @modelcontextprotocol/sdk, which cannot be loaded. Install it: npm install @modelcontextprotocol/sdk.',
      { cause },
    )
  }
}

function notInstalled(cause: unknown): never {
  throw cause
}
