import { Agent, isAlliumError, type Session } from '@allium/core'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { ClientCredentialsProvider, PrivateKeyJwtProvider } from '@modelcontextprotocol/client'
import { type McpAuthProvider, mcp } from '../../src/mcp.ts'
import { memoryProvider } from './oauth.ts'

// An agent as the conformance suite of MCP starts it, with the URL of a server: it calls each tool, answers what is asked, and agrees where it is to.
const url = process.argv.at(-1) ?? ''
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') as Record<string, string> & {
  toolCalls?: { name: string; arguments: object }[]
}
const {
  client_id: clientId = '',
  client_secret: clientSecret = '',
  private_key_pem: privateKey,
  signing_algorithm: algorithm = '',
  toolCalls: asked = [],
} = context
const argumentsOf: Record<string, Record<string, unknown>> = { add_numbers: { a: 1, b: 2 } }
// The schema of the tool forbids null, so an agent does not send it.
for (const { name, arguments: given } of asked)
  argumentsOf[name] = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))
const tries = 3

/** Arguments that a schema requires; the suite has texts and numbers. */
function required({ required = [], properties = {} }: { required?: string[]; properties?: object }) {
  const typeOf = (name: string) => (properties as Record<string, { type?: string }>)[name]?.type
  return Object.fromEntries(required.map((name) => [name, typeOf(name) === 'string' ? 'text' : 1]))
}

/** Calls every tool once, and says so. */
const step: ScriptedStep = ({ messages, tools }) => {
  const calls = tools.map(({ name, jsonSchema }) => ({
    name,
    args: argumentsOf[name.replace(/^srv__/, '')] ?? required(jsonSchema),
  }))
  return messages.at(-1)?.role === 'tool' || calls.length === 0 ? 'Done.' : { toolCalls: calls }
}

function credentials(): { provider: McpAuthProvider; agree?: (url: string) => Promise<void> } {
  if (privateKey !== undefined) return { provider: new PrivateKeyJwtProvider({ clientId, privateKey, algorithm }) }
  if (context.name === 'auth/client-credentials-basic')
    return { provider: new ClientCredentialsProvider({ clientId, clientSecret }) }
  const redirect_uris = ['http://127.0.0.1/callback']
  return memoryProvider({
    clientMetadata: { redirect_uris, grant_types: ['authorization_code', 'refresh_token'], client_name: 'allium' },
    clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
    ...(clientId !== '' && { client: { client_id: clientId, client_secret: clientSecret, redirect_uris } }),
  })
}

const { provider, agree } = credentials()

async function answered(session: Session<{}>): Promise<boolean> {
  let result = await session.run('Call them')
  while (result.status === 'suspended')
    result = await session.resume(
      Object.fromEntries(session.pending.map(({ callId }) => [callId, { approve: true as const, data: {} }])),
    )
  return result.toolCalls.every(({ result }) => !isUnauthorized(result.error))
}

function isUnauthorized(error: unknown): boolean {
  return isAlliumError(error) && error.code === 'mcp.unauthorized'
}

for (let left = tries; left > 0; left--) {
  const agent = new Agent({ model: scriptedModel(Array.from({ length: 10 }, () => step)) }).use(
    mcp({ name: 'srv', url, authProvider: provider, allowPrivate: true }),
  )
  try {
    if (await answered(agent.session())) break
  } catch (error) {
    if (!isUnauthorized(error) || agree === undefined) throw error
  } finally {
    await agent.dispose()
  }
  await agree?.(url)
}
