import { messageOf } from '../errors/describe.ts'
import type { Turn } from '../rings/turn/turn.ts'

/**
 * A wrapper of an ended run has failed. This fails the run too, unless it has ended early.
 *
 * @returns a function that rolls the run back, or keeps it to be stored with the next one
 */
export function notStored(turn: Turn, error: unknown): () => void {
  if (turn.options.journal.lost !== true) {
    if (turn.end === undefined) turn.lifecycle.close('failed', error)
    else report(turn, error)
  }
  return () => turn.session.onNotStored(hadEffect(turn))
}

/** Whether a tool ran or a decision was used. */
function hadEffect({ options, toolCalls }: Turn): boolean {
  return (
    options.resume !== undefined || toolCalls.some(({ result: { status } }) => status === 'ok' || status === 'error')
  )
}

/** Logs the error, because the run already ends with another one and its caller does not get this one. */
function report({ session, turnId }: Turn, error: unknown): void {
  const what = `The session "${session.id}" could not be stored: ${messageOf(error)}`
  session.agent.setup.logger.error(what, { error, turnId })
}
