import { AlliumError } from '@allium/core'

/** The parts of the official SDK that are used. */
export type Sdk = Pick<
  typeof import('@modelcontextprotocol/client'),
  | 'auth'
  | 'Client'
  | 'computeScopeUnion'
  | 'extractWWWAuthenticateParams'
  | 'InsufficientScopeError'
  | 'isSpecType'
  | 'isStrictScopeSuperset'
  | 'ProtocolError'
  | 'SdkError'
  | 'SdkErrorCode'
  | 'SdkHttpError'
  | 'specTypeSchemas'
  | 'StreamableHTTPClientTransport'
  | 'UnauthorizedError'
> &
  Partial<Pick<typeof import('@modelcontextprotocol/client/stdio'), 'StdioClientTransport'>>

/**
 * Loads the SDK, an optional peer dependency, when an agent with servers begins. Each import has its own catch, so that bundlers leave
 * a missing module to run time. `#mcp-stdio` is empty in a bundle for a browser or an edge runtime.
 * @throws AlliumError `mcp.not_installed`
 */
export async function loadSdk(): Promise<Sdk> {
  try {
    const [client, stdio] = await Promise.all([
      import('@modelcontextprotocol/client').catch(notInstalled),
      import('#mcp-stdio').catch(notInstalled),
    ])
    return { ...client, ...stdio }
  } catch (cause) {
    throw new AlliumError(
      'mcp.not_installed',
      'MCP servers need the package @modelcontextprotocol/client, which cannot be loaded. Install it: npm install @modelcontextprotocol/client.',
      { cause },
    )
  }
}

function notInstalled(cause: unknown): never {
  throw cause
}
