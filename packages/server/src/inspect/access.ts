import type { RegisteredPrincipal } from '@allium/core'

/** Whose turns a principal may inspect: their own ones, those of their tenant, or those of all tenants. */
export type InspectAccess = 'own' | 'tenant' | 'all'

/** Returns whose turns a principal may inspect, or nothing. A throw denies it. */
export type AccessRule = (
  principal: RegisteredPrincipal,
) => InspectAccess | undefined | Promise<InspectAccess | undefined>
