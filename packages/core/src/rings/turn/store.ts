import type { SessionKeeper, StoredTurn } from '../../seams/session-store.ts'
import { statusOf } from './status.ts'
import type { Turn } from './turn.ts'

/** Gives the ended run to those who store the session. What one of them throws fails the run, unless it has ended otherwise. */
export async function store(turn: Turn, keepers: readonly SessionKeeper[]): Promise<void> {
  const stored = storedTurn(turn)
  for (const keeper of keepers)
    try {
      await keeper.end?.(stored)
    } catch (error) {
      if (turn.end === undefined) turn.close('failed', error)
    }
}

function storedTurn(turn: Turn): StoredTurn {
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
