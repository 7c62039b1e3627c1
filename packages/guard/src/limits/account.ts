import { AlliumError, ownerOf, type TurnView, tenantOf } from '@allium/core'
import { rootTurnIdOf } from '@allium/core/context'

/** The holder of the account that a call is charged to. */
export type Per = 'turn' | 'session' | 'user' | 'tenant'
/** When an account resets: every hour, day or month of UTC, or every given number of milliseconds. */
export type Window = 'hour' | 'day' | 'month' | number

/** Windows of a fixed length, in milliseconds. */
export const windowLengths = { second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000 }

/**
 * Returns the owner of an account as a list that begins with the tenant.
 *
 * @throws AlliumError `session.principal` when it counts per user or tenant and the principal has no such id
 */
export function accountOwner(layer: string, per: Per, ctx: TurnView): string[] {
  const { principal, sessionId, sessionKey } = ctx
  const tenant = tenantOf(principal)
  switch (per) {
    case 'turn':
      return [tenant ?? '', sessionKey.owner, sessionId, rootTurnIdOf(ctx)]
    case 'session':
      return [tenant ?? '', sessionKey.owner, sessionId]
    case 'user': {
      const user = ownerOf(principal)
      return user === undefined ? throwMissingField(layer, 'userId') : [tenant ?? '', user]
    }
    case 'tenant':
      return tenant === undefined ? throwMissingField(layer, 'tenantId') : [tenant]
  }
}

/** Returns a field of a principal that holds an id. */
export function principalField(principal: unknown, name: string): string | undefined {
  const id = (principal as Record<string, unknown> | null | undefined)?.[name]
  return (typeof id === 'string' && id !== '') || typeof id === 'number' ? String(id) : undefined
}

export function throwMissingField(layer: string, field: string): never {
  throw new AlliumError(
    'session.principal',
    `"${layer}" counts by ${field}, but this session's principal has none. Open it with agent.session({ principal: { ${field} } }), or pass a function as per.`,
    { details: { layer } },
  )
}
