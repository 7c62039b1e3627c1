import type { OAuthClientProvider } from '@modelcontextprotocol/client'
import { mcp } from '../src/mcp.ts'

declare const provider: OAuthClientProvider
const server = { name: 'srv', url: 'https://mcp.example.com/' } as const

// The SDK's providers are taken as they are.
mcp({ ...server, authProvider: provider })
mcp({ ...server, perPrincipal: true, authProvider: () => provider, listWith: { authProvider: provider } })
mcp({ ...server, perPrincipal: true, headers: () => ({}), tools: [{ name: 'a', description: 'b', jsonSchema: {} }] })

// @ts-expect-error nobody lists the tools
mcp({ ...server, perPrincipal: true, headers: () => ({}) })
// @ts-expect-error neither headers nor authProvider
mcp({ ...server, perPrincipal: true, listWith: {} })
// @ts-expect-error one provider for all users
mcp({ ...server, perPrincipal: true, authProvider: provider, listWith: { headers: {} } })
// @ts-expect-error a provider for each user, and one connection for all
mcp({ ...server, authProvider: () => provider })
