import { messageOf } from '@allium/core'
import type { OAuthClientProvider } from '@modelcontextprotocol/client'
import type { Sdk } from './sdk.ts'

type Fetch = typeof globalThis.fetch

interface Authorization {
  readonly provider: OAuthClientProvider
  readonly place: URL
  /** Sends the requests of the authorization itself. */
  readonly fetch: Fetch
  readonly sdk: Sdk
}

/**
 * Authorizes once for all requests that receive a 401, or a 403 that asks for a wider scope. If each request authorized separately, as
 * in the SDK's transport, the single refresh token would be used several times, which servers treat as theft. A wider scope is asked
 * for together with the scopes so far, which would be lost otherwise.
 */
export function withAuthorization(send: Fetch, { provider, place, fetch, sdk }: Authorization): Fetch {
  let flow: Promise<void> | undefined
  /** What was asked for on this connection. */
  let scopes: string | undefined
  return async (to, init) => {
    const refused = await send(to, init)
    if (refused.status !== 401 && !asksForScope(refused)) return refused
    const sent = new Headers(init?.headers).get('authorization')
    if (sent === null || sent === (await bearer()))
      await (flow ??= authorize(refused).finally(() => (flow = undefined)))
    await refused.body?.cancel()
    const headers = new Headers(init?.headers)
    headers.set('authorization', (await bearer()) ?? '')
    const response = await send(to, { ...init, headers })
    if (response.status === 401) throw new sdk.UnauthorizedError('It refuses the token that it was just given.')
    return response
  }

  function asksForScope(response: Response): boolean {
    return response.status === 403 && sdk.extractWWWAuthenticateParams(response).error === 'insufficient_scope'
  }

  async function bearer(): Promise<string | undefined> {
    const tokens = await provider.tokens()
    return tokens && `Bearer ${tokens.access_token}`
  }

  async function authorize(refused: Response): Promise<void> {
    const { resourceMetadataUrl, scope: asked } = sdk.extractWWWAuthenticateParams(refused)
    const isStepUp = refused.status === 403
    const granted = isStepUp ? (await provider.tokens())?.scope : undefined
    scopes = sdk.computeScopeUnion(scopes, granted, asked)
    // A refresh cannot widen the scope.
    const forceReauthorization = isStepUp && sdk.isStrictScopeSuperset(scopes, granted)
    const authOptions = { serverUrl: place, resourceMetadataUrl, scope: scopes, forceReauthorization, fetchFn: fetch }
    const result = await sdk.auth(provider, authOptions as Parameters<Sdk['auth']>[1]).catch((cause) => {
      throw Object.assign(new sdk.UnauthorizedError(messageOf(cause)), { cause })
    })
    if (result !== 'AUTHORIZED') throw new sdk.UnauthorizedError('Its user is asked, and has not agreed yet.')
  }
}
