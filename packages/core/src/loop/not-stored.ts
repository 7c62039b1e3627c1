import { messageOf } from '../errors/describe.ts'
import type { Turn } from '../rings/turn/turn.ts'

/**
 * A wrapper of an ended run has failed. This fails the run too, unless it has ended early.
 *
 * @returns a function that rolls the run back, or keeps it to be stored with the next one
 */
export function notStored(turn: Turn, error: unknown): () => void {
  const { session, turnId, lifecycle } = turn
  if (!turn.isLost) {
    if (turn.end === undefined) lifecycle.close('failed', error)
    // The run already ends with another error, so its caller does not get this one.
    else
      session.agent.setup.logger.error(`The session "${session.id}" could not be stored: ${messageOf(error)}`, {
        error,
        turnId,
      })
  }
  return () => session.onNotStored(hadEffect(turn))
}

/** Whether a tool ran or a decision was used. */
function hadEffect({ options, toolCalls }: Turn): boolean {
  return (
    options.resume !== undefined || toolCalls.some(({ result: { status } }) => status === 'ok' || status === 'error')
  )
}
