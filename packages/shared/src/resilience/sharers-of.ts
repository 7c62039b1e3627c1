import { ownerOf, sessionKeyOf, tenantOf } from '@allium/core'
import type { SessionPlace } from '@allium/core/internal'

/**
 * Returns the key prefix for data that is shared per tenant, user or session. If the tenant or user is unknown, the data is not
 * shared and belongs to the session. Data of a tenant or a user is shared by all agents.
 *
 * @throws AlliumError `session.principal` as {@link tenantOf}
 */
export function sharersOf(source: SessionPlace, per: 'tenant' | 'user' | 'session'): readonly unknown[] {
  const tenant = tenantOf(source.principal)
  if (per === 'tenant' && tenant !== undefined) return ['tenant', tenant]
  const user = per === 'user' ? ownerOf(source.principal) : undefined
  return user === undefined ? ['session', sessionKeyOf(source)] : ['user', tenant ?? null, user]
}
