import { isAlliumError, type SessionKey } from '@allium/core'
import type { DurableAgent, DurableOptions } from '../options.ts'

/**
 * Returns the owner of a run as they are now; undefined if the owner no longer exists, or is another one.
 *
 * @param resolve looks the owner up. Without it, the owner is the `stored` one
 */
export async function currentOwner(
  agent: DurableAgent,
  key: SessionKey,
  { stored, resolve }: { stored: unknown; resolve: DurableOptions['resolvePrincipal'] },
): Promise<{ principal: unknown } | undefined> {
  const owned = (principal: unknown) => {
    const { tenant, owner } = agent.session({ principal: principal as never }).key
    return tenant === key.tenant && owner === key.owner ? { principal } : undefined
  }
  if (resolve === undefined) return owned(stored)
  try {
    const principal = (await resolve(key)) ?? undefined
    return principal === undefined ? undefined : owned(principal)
  } catch (error) {
    if (isAlliumError(error, 'store.unavailable')) throw error
    return undefined
  }
}
