import type { SessionKeeper, StoredTurn } from '../../seams/session-store.ts'
import { statusOf } from './status.ts'
import type { TurnScope } from './turn-scope.ts'

/** Gives the ended run to those who store the session. What one of them throws fails the run, unless it has ended otherwise. */
export async function store(turn: TurnScope, keepers: readonly SessionKeeper[]): Promise<void> {
  const stored = storedTurn(turn)
  for (const keeper of keepers)
    try {
      await keeper.end?.(stored)
    } catch (error) {
      turn.fail(error)
    }
}

function storedTurn(turn: TurnScope): StoredTurn {
  const { session, turnId } = turn
  const { version } = session.agent.setup
  const { changedFrom: from } = session.history
  const { history: messages, ...rest } = session.snapshot(from)
  return {
    turnId,
    ...(version !== undefined && { version }),
    status: statusOf(turn),
    from,
    messages,
    rest: { ...rest },
  }
}
