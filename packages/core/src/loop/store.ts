import { messageOf } from '../errors/describe.ts'
import type { Turn } from '../rings/turn/turn.ts'
import type { SessionKeeper } from '../seams/session-store.ts'
import { statusOf } from './status.ts'
import { storedTurn } from './stored-turn.ts'

/**
 * Gives the ended run to those who store the session. What one of them throws fails the run, unless it has ended otherwise.
 *
 * @returns where it was not stored: what takes the run back, or leaves it to be stored with the next one
 */
export async function store(turn: Turn, keepers: readonly SessionKeeper[]): Promise<(() => void) | undefined> {
  const { session } = turn
  if (turn.options.journal.lost === true) {
    for (const keeper of keepers) await keeper.end?.(undefined)
    return () => session.onNotStored(hadEffect(turn))
  }
  const stored = storedTurn(turn, statusOf(turn))
  let failed = false
  for (const keeper of keepers)
    try {
      await keeper.end?.(stored)
    } catch (error) {
      failed = true
      if (turn.end === undefined) turn.lifecycle.close('failed', error)
      else reportNotStored(turn, error)
    }
  if (failed) return () => session.onNotStored(hadEffect(turn))
  session.markStored(stored.from + stored.messages.length)
  return undefined
}

/** Whether a tool began, or a decision of a human was used. */
function hadEffect({ options, toolCalls }: Turn): boolean {
  return (
    options.resume !== undefined || toolCalls.some(({ result: { status } }) => status === 'ok' || status === 'error')
  )
}

/** The run ends otherwise, so that its caller does not hear of it. */
function reportNotStored({ session, turnId }: Turn, error: unknown): void {
  const what = `The session "${session.id}" could not be stored: ${messageOf(error)}`
  session.agent.setup.logger.error(what, { error, turnId })
}
