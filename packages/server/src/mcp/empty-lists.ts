import type { Server } from '@modelcontextprotocol/server'
import type { Sdk } from './sdk.ts'

/**
 * Answers requests for prompts and resources, of which agents have none. Many clients list all three kinds, and an empty list can be
 * cached, unlike an error.
 */
export function serveEmptyLists(
  server: Server,
  { ProtocolError, ProtocolErrorCode, ResourceNotFoundError }: Sdk,
): void {
  server.setRequestHandler('prompts/list', () => ({ prompts: [] }))
  server.setRequestHandler('prompts/get', ({ params: { name } }) => {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The prompt ${JSON.stringify(name)} does not exist.`)
  })
  server.setRequestHandler('resources/list', () => ({ resources: [] }))
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }))
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    throw new ResourceNotFoundError(uri)
  })
}
