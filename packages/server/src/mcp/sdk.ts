import { AlliumError } from '@allium/core'

/** The MCP SDK for servers. */
export type Sdk = typeof import('@modelcontextprotocol/server')

/**
 * Loads the SDK, an optional peer dependency, with the first request that needs it. The import has its own `catch`, so that bundlers
 * leave a missing package to the run time.
 *
 * @throws AlliumError `mcp.not_installed`
 */
export async function loadSdk(): Promise<Sdk> {
  return import('@modelcontextprotocol/server').catch((cause: unknown) => {
    throw new AlliumError(
      'mcp.not_installed',
      'The option `mcp` of server() needs the MCP SDK: npm install @modelcontextprotocol/server.',
      { cause },
    )
  })
}
