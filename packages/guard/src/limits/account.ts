import { AlliumError, ownerOf, type TurnView, tenantOf } from '@allium/core'
import { rootTurnIdOf } from '@allium/core/context'

/** The holder of the account that a call is charged to. */
export type Per = 'turn' | 'session' | 'user' | 'tenant'
/** When an account resets: every hour, day or month of UTC, or every given number of milliseconds. */
export type Window = 'hour' | 'day' | 'month' | number

/**
 * Returns the name of the account, which keeps tenants apart: `["guard:budget","acme","ann","session-1"]`. It is a JSON list, so
 * that no id can pose as another part of the name.
 *
 * @throws AlliumError `session.principal` when it counts per user or tenant and the principal has no such id
 */
export function accountOf(layer: string, per: Per, ctx: TurnView, window: Window | undefined, now: number): string {
  const parts = [layer, ...accountOwner(layer, per, ctx)]
  return JSON.stringify(window === undefined ? parts : [...parts, windowName(window, now)])
}

/**
 * Returns the owner of an account as a list that begins with the tenant.
 *
 * @param option the option that selects another owner, for the error message
 * @throws AlliumError `session.principal` like {@link accountOf}
 */
export function accountOwner(layer: string, per: Per, ctx: TurnView, option?: string): string[] {
  const { principal, sessionId, sessionKey } = ctx
  const tenant = tenantOf(principal)
  switch (per) {
    case 'turn':
      return [tenant ?? '', sessionKey.owner, sessionId, rootTurnIdOf(ctx)]
    case 'session':
      return [tenant ?? '', sessionKey.owner, sessionId]
    case 'user': {
      const user = ownerOf(principal)
      return user === undefined ? throwMissingField(layer, 'userId', option) : [tenant ?? '', user]
    }
    case 'tenant':
      return tenant === undefined ? throwMissingField(layer, 'tenantId', option) : [tenant]
  }
}

function windowName(window: Window, now: number): string {
  if (typeof window === 'number') return String(Math.floor(now / window))
  return new Date(now).toISOString().slice(0, { month: 7, day: 10, hour: 13 }[window])
}

/** Returns the milliseconds until the current window ends. */
export function remainingInWindow(window: Window, now: number): number {
  if (typeof window === 'number') return window - (now % window)
  const at = new Date(now)
  const parts = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate(), at.getUTCHours()]
  const [year = 0, month = 0, day = 1, hour = 0] = parts
  const next = {
    hour: Date.UTC(year, month, day, hour + 1),
    day: Date.UTC(year, month, day + 1),
    month: Date.UTC(year, month + 1),
  }
  return next[window] - now
}

/** Returns the first of these fields that holds an id. */
export function principalField(principal: unknown, ...names: string[]): string | undefined {
  if (typeof principal !== 'object' || principal === null) return undefined
  for (const name of names) {
    const id = (principal as Record<string, unknown>)[name]
    if ((typeof id === 'string' && id !== '') || typeof id === 'number') return String(id)
  }
  return undefined
}

export function throwMissingField(layer: string, field: string, option = 'an account'): never {
  throw new AlliumError(
    'session.principal',
    `"${layer}" counts by ${field}, but this session's principal has none. Open it with agent.session({ principal: { ${field} } }), or pass ${option}(ctx).`,
    { details: { layer } },
  )
}
