import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { auth, type OAuthClientProvider, type OAuthDiscoveryState } from '@modelcontextprotocol/client'
import { InvalidGrantError, InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js'
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js'
import type { OAuthServerProvider } from '@modelcontextprotocol/sdk/server/auth/provider.js'
import { mcpAuthRouter } from '@modelcontextprotocol/sdk/server/auth/router.js'
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { OAuthClientInformationFull, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'

/** An MCP server behind an authorization server, which agrees to everything; a refresh token holds once. */
export async function oauthFixture() {
  const app = createMcpExpressApp()
  const http = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => http.once('listening', resolve))
  const origin = new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}`)
  const url = new URL('/mcp', origin)
  const clients = new Map<string, OAuthClientInformationFull>()
  const codes = new Map<string, string>()
  const access = new Set<string>()
  const refresh = new Set<string>()
  const grants: string[] = []
  const seen: string[] = []

  const granted = (grant: string): OAuthTokens => {
    grants.push(grant)
    const [access_token, refresh_token] = [`access-${randomUUID()}`, `refresh-${randomUUID()}`]
    access.add(access_token)
    refresh.add(refresh_token)
    return { access_token, refresh_token, token_type: 'bearer', expires_in: 3_600 }
  }
  const provider: OAuthServerProvider = {
    clientsStore: {
      getClient: (id) => clients.get(id),
      registerClient: (client) => {
        const known = { client_id: randomUUID(), ...client }
        clients.set(known.client_id, known)
        return known
      },
    },
    async authorize(_client, { codeChallenge, redirectUri, state }, response) {
      const code = randomUUID()
      codes.set(code, codeChallenge)
      response.redirect(`${redirectUri}?code=${code}&state=${state}`)
    },
    challengeForAuthorizationCode: async (_client, code) => codes.get(code) ?? '',
    exchangeAuthorizationCode: async () => granted('code'),
    async exchangeRefreshToken(_client, token) {
      if (!refresh.delete(token)) throw new InvalidGrantError('The refresh token was used before.')
      return granted('refresh')
    },
    async verifyAccessToken(token) {
      if (!access.has(token)) throw new InvalidTokenError('expired')
      return { token, clientId: 'x', scopes: [], expiresAt: Date.now() / 1_000 + 3_600 }
    },
  }
  app.use(mcpAuthRouter({ provider, issuerUrl: origin, resourceServerUrl: url, tokenOptions: { rateLimit: false } }))
  const resourceMetadataUrl = new URL('/.well-known/oauth-protected-resource/mcp', origin).href
  app.use('/mcp', requireBearerAuth({ verifier: provider, resourceMetadataUrl }))
  app.all('/mcp', async (request, response) => {
    seen.push(String(request.headers.authorization))
    const server = new Server({ name: 'guarded', version: '1.0.0' }, { capabilities: { tools: {} } })
    const inputSchema = { type: 'object' as const }
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: [{ name: 'read', description: 'Reads', inputSchema }],
    }))
    server.setRequestHandler(CallToolRequestSchema, () => ({ content: [{ type: 'text', text: 'read' }] }))
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true })
    await server.connect(transport)
    await transport.handleRequest(request, response, request.body)
  })
  const stop = () => {
    http.closeAllConnections()
    return new Promise((resolve) => http.close(resolve))
  }
  /** All access tokens have run out; refresh tokens hold. */
  const expire = () => access.clear()
  return { url: url.href, grants, seen, expire, forget: () => refresh.clear(), stop }
}

/** The provider of one user, in memory. */
export function memoryProvider(own: Partial<OAuthClientProvider> & { client?: unknown } = {}) {
  const redirects: URL[] = []
  let client = own.client
  let tokens: OAuthTokens | undefined
  let verifier = ''
  let found: OAuthDiscoveryState | undefined
  const provider: OAuthClientProvider = {
    redirectUrl: 'http://127.0.0.1/callback',
    clientMetadata: { redirect_uris: ['http://127.0.0.1/callback'], token_endpoint_auth_method: 'none' },
    clientInformation: () => client as never,
    saveClientInformation: (given) => void (client = given),
    tokens: () => tokens,
    saveTokens: (given) => void (tokens = given),
    redirectToAuthorization: (url) => void redirects.push(url),
    saveCodeVerifier: (given) => void (verifier = given),
    codeVerifier: () => verifier,
    // Without it the callback looks for the authorization server anew, where a server may not have said that it is.
    saveDiscoveryState: (given) => void (found = given),
    discoveryState: () => found,
    invalidateCredentials: (what) => void ((what === 'tokens' || what === 'all') && (tokens = undefined)),
    ...own,
  }
  /** The user follows the link, and agrees; the app's callback gets the code. */
  const agree = async (serverUrl: string) => {
    const response = await fetch(redirects.at(-1) as URL, { redirect: 'manual' })
    const { searchParams } = new URL(response.headers.get('location') ?? '')
    const iss = searchParams.get('iss') ?? undefined
    await auth(provider, {
      serverUrl,
      authorizationCode: searchParams.get('code') ?? '',
      ...(iss !== undefined && { iss }),
    })
  }
  return { provider, redirects, agree, token: () => tokens?.access_token }
}
