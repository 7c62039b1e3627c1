import { ownerOf, type TurnContext, tenantOf } from '@allium/core'

/** Who acts, and where: the same in all records of a call. */
export interface RunLocation {
  tenant?: string
  user?: string
  agent: string
  session: string
  turn: string
  /** The turn that it counts for, where that is another: the first run of one that was resumed, or a parent's. */
  root?: string
}

export function runLocation({ principal, sessionId, turnId, rootTurnId, agent }: TurnContext): RunLocation {
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

/** A watcher fails nobody: where the agent's `owner` makes the session, a principal may hold anything as its user. */
function userOf(principal: unknown): string | undefined {
  try {
    return ownerOf(principal)
  } catch {
    return undefined
  }
}
