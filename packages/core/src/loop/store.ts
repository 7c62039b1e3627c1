import { messageOf } from '../errors/describe.ts'
import type { Turn } from '../rings/turn/turn.ts'
import type { SessionKeeper } from '../seams/session-store.ts'
import { statusOf } from './status.ts'
import { storedTurn } from './stored-turn.ts'

/**
 * Passes the ended run to the keepers. An error of a keeper fails the run, unless it has ended early.
 *
 * @returns if the run was not stored: a function that rolls it back, or keeps it to be stored with the next one
 */
export async function store(turn: Turn, keepers: readonly SessionKeeper[]): Promise<(() => void) | undefined> {
  const { session } = turn
  if (turn.options.journal.takenOver === true) {
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

/** Whether a tool ran or a decision was used. */
function hadEffect({ options, toolCalls }: Turn): boolean {
  return (
    options.resume !== undefined || toolCalls.some(({ result: { status } }) => status === 'ok' || status === 'error')
  )
}

/** Logs the error, because the run already ends with another one and its caller does not get this one. */
function reportNotStored({ session, turnId }: Turn, error: unknown): void {
  const what = `The session "${session.id}" could not be stored: ${messageOf(error)}`
  session.agent.setup.logger.error(what, { error, turnId })
}
