import { AlliumError } from '@allium/core'

/** The parts of the MCP SDK that a server needs. */
export interface Sdk {
  readonly Server: typeof import('@modelcontextprotocol/sdk/server/index.js').Server
  readonly Transport: typeof import('@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js').WebStandardStreamableHTTPServerTransport
  readonly types: typeof import('@modelcontextprotocol/sdk/types.js')
}

/**
 * Loads the SDK, an optional peer dependency, with the first request that needs it. Each import has its own `catch`, so that bundlers
 * leave a missing package to the run time.
 *
 * @throws AlliumError `mcp.not_installed`
 */
export async function loadSdk(): Promise<Sdk> {
  try {
    const [{ Server }, { WebStandardStreamableHTTPServerTransport: Transport }, types] = await Promise.all([
      import('@modelcontextprotocol/sdk/server/index.js').catch(missing),
      import('@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js').catch(missing),
      import('@modelcontextprotocol/sdk/types.js').catch(missing),
    ])
    return { Server, Transport, types }
  } catch (cause) {
    throw new AlliumError(
      'mcp.not_installed',
      'The option `mcp` of server() needs the MCP SDK: npm install @modelcontextprotocol/sdk.',
      { cause },
    )
  }
}

function missing(cause: unknown): never {
  throw cause
}
