import type { OAuthClientProvider } from '@modelcontextprotocol/client'

interface Stored {
  readonly refresh_token?: string
  /** The authorization server that granted or registered it. The SDK sends it to no other one. */
  readonly issuer?: string
}

/** What the SDK passes when it is about to send a credential to an authorization server. */
interface Destination {
  readonly issuer: string
}

/**
 * A provider whose refresh tokens go to the authorization server that granted them, and nowhere else. The SDK takes a token or a
 * registration without an issuer as one of the server that the MCP server points at, and stores it so. Here such a token counts only
 * if its issuer is known from this process or from the client's registration; otherwise the user has to agree again. A registration
 * without an issuer is stored with one only when that server grants tokens.
 *
 * @param onUnknown called when a refresh token is withheld
 */
export function withBoundTokens(provider: OAuthClientProvider, onUnknown: () => void): OAuthClientProvider {
  /** The issuer of each refresh token that was stored here, for providers that do not keep it. */
  const issuers = new Map<string, string>()

  async function tokens(to?: Destination): Promise<unknown> {
    const stored = (await provider.tokens(to)) as Stored | undefined
    if (stored?.refresh_token === undefined || isNamed(stored.issuer)) return stored
    const issuer = issuers.get(stored.refresh_token) ?? (await registration(to))?.issuer
    if (isNamed(issuer)) return { ...stored, issuer }
    const { refresh_token: _, ...rest } = stored
    if (to === undefined) return rest
    onUnknown()
    return undefined
  }

  async function registration(to?: Destination): Promise<Stored | undefined> {
    return (await provider.clientInformation(to)) as Stored | undefined
  }

  async function clientInformation(to?: Destination): Promise<unknown> {
    const client = await registration(to)
    return client && to !== undefined && !isNamed(client.issuer) ? { ...client, issuer: to.issuer } : client
  }

  async function saveTokens(given: Stored, to?: Destination): Promise<void> {
    const { refresh_token: token, issuer } = given
    if (token !== undefined && issuer !== undefined) {
      issuers.clear()
      issuers.set(token, issuer)
    }
    await provider.saveTokens(given as never, to)
    const client = await registration(to)
    if (client !== undefined && issuer !== undefined && !isNamed(client.issuer))
      await provider.saveClientInformation?.({ ...client, issuer } as never, to)
  }

  /** What was found before is for the callback of the app. A request that is refused asks again, because the server may have moved. */
  function discoveryState(): undefined {}

  const own: Partial<Record<PropertyKey, unknown>> = { tokens, clientInformation, saveTokens, discoveryState }
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
