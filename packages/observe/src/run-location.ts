import type { TurnView } from '@allium/core'
import { rootTurnIdOf } from '@allium/core/context'

/** The actor and the location, which are the same in all records of a call. */
export interface RunLocation {
  tenant?: string
  user?: string
  agent: string
  session: string
  turn: string
  /** The turn that it counts toward, if that is another one: the first run of a resumed turn, or a parent's turn. */
  root?: string
}

export function runLocation(ctx: TurnView): RunLocation {
  const { sessionKey, sessionId, turnId, agent } = ctx
  const { tenant, owner } = sessionKey
  const rootTurnId = rootTurnIdOf(ctx)
  return {
    ...(tenant !== '' && { tenant }),
    ...(owner !== '' && { user: owner }),
    agent: agent.name,
    session: sessionId,
    turn: turnId,
    ...(rootTurnId !== turnId && { root: rootTurnId }),
  }
}
