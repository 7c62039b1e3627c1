import { ownerOf, type TurnView, tenantOf } from '@allium/core'
import { rootTurnIdOf } from '@allium/core/context'
import { ignoreErrors } from './ignore-errors.ts'

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
  const { principal, sessionId, turnId, agent } = ctx
  const rootTurnId = rootTurnIdOf(ctx)
  // An observer must not fail the run. If the agent sets `owner`, a principal may have anything as its user.
  const user = ignoreErrors(() => ownerOf(principal))
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
