import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'

interface Tokens {
  readonly refresh_token?: string
  /** The authorization server that granted them. The SDK sends a refresh token to no other one. */
  readonly issuer?: string
}

/**
 * A provider whose refresh tokens go to the authorization server that granted them, and nowhere else. The SDK sends a token
 * that names no issuer to whichever server the MCP server points at. So such a token counts only if its issuer is known
 * from this process or from the client's registration; otherwise the user has to agree again.
 *
 * @param onUnknown called when a refresh token is withheld
 */
export function withBoundTokens(provider: OAuthClientProvider, onUnknown: () => void): OAuthClientProvider {
  /** The issuer of each refresh token that was stored here, for providers that do not keep it. */
  const issuers = new Map<string, string>()

  async function tokens(): Promise<unknown> {
    const stored = (await provider.tokens()) as Tokens | undefined
    if (stored?.refresh_token === undefined || isNamed(stored.issuer)) return stored
    const issuer = issuers.get(stored.refresh_token) ?? (await issuerOfClient())
    if (isNamed(issuer)) return { ...stored, issuer }
    onUnknown()
    const { refresh_token: _, ...rest } = stored
    return rest
  }

  async function issuerOfClient(): Promise<string | undefined> {
    const client = (await provider.clientInformation()) as Pick<Tokens, 'issuer'> | undefined
    return client?.issuer
  }

  function saveTokens(given: Tokens): unknown {
    const { refresh_token: token, issuer } = given
    if (token !== undefined && issuer !== undefined) {
      issuers.clear()
      issuers.set(token, issuer)
    }
    return provider.saveTokens(given as never)
  }

  const own: Partial<Record<PropertyKey, unknown>> = { tokens, saveTokens }
  return new Proxy(provider, {
    get(target, key) {
      if (Object.hasOwn(own, key)) return own[key]
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

function isNamed(issuer: unknown): issuer is string {
  return typeof issuer === 'string' && issuer !== ''
}
