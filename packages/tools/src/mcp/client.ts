import type { Client, VersionNegotiationOptions } from '@modelcontextprotocol/client'
import type { LinkSetup } from './link-setup.ts'
import type { RunningCalls } from './running-calls.ts'
import { jsonSchemaValidator } from './schema.ts'
import type { Sdk } from './sdk.ts'
import { isHttp } from './server.ts'

/**
 * A client of the SDK with the handlers of a link. It asks the server for its revision and falls back to `initialize`, unless the
 * revision is given.
 */
export function clientFor(setup: LinkSetup, sdk: Sdk, calls: RunningCalls): Client {
  const { canElicit, canSample } = setup
  const client = new sdk.Client(
    { name: 'allium', version: '0.1.0' },
    {
      capabilities: {
        ...(canElicit && { elicitation: { form: {} } }),
        ...(canSample && { sampling: {} }),
        extensions: { [tasksExtension]: {} },
      },
      jsonSchemaValidator,
      versionNegotiation: negotiation(setup),
      inputRequired: { autoFulfill: false },
    },
  )
  if (canSample)
    client.setRequestHandler('sampling/createMessage', ({ params }, { mcpReq }) => calls.sample(params, mcpReq.id))
  if (canElicit)
    client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) => calls.elicit(params, mcpReq.id))
  return client
}

function negotiation({ revision, server, connectTimeout }: LinkSetup): VersionNegotiationOptions {
  if (revision === '2025-11-25') return { mode: 'legacy' }
  // A program of an older revision may stay silent. The handshake needs the other half.
  const timeoutMs = isHttp(server) ? connectTimeout : connectTimeout / 2
  return { mode: revision === undefined ? 'auto' : { pin: revision }, probe: { timeoutMs } }
}

/** https://modelcontextprotocol.io/extensions/tasks */
const tasksExtension = 'io.modelcontextprotocol/tasks'
