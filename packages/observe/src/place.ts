import { type TurnContext, tenantOf } from '@allium/core'

/** Who acts, and where: the same in all records of a call. */
export interface Place {
  tenant?: string
  user?: string
  agent: string
  session: string
  turn: string
  /** The turn that it counts for, where that is another: the first run of one that was resumed, or a parent's. */
  root?: string
}

export function placeOf({ principal, sessionId, turnId, rootTurnId, agent }: TurnContext): Place {
  const user = userOf(principal)
  const tenant = tenantOf(principal)
  return {
    ...(tenant !== undefined && { tenant }),
    ...(user !== undefined && { user }),
    agent: agent.name,
    session: sessionId,
    turn: turnId,
    ...(rootTurnId !== turnId && { root: rootTurnId }),
  }
}

function userOf(principal: unknown): string | undefined {
  if (typeof principal !== 'object' || principal === null) return undefined
  const { userId, user } = principal as { userId?: unknown; user?: unknown }
  for (const id of [userId, user])
    if ((typeof id === 'string' && id !== '') || typeof id === 'number') return String(id)
  return undefined
}
