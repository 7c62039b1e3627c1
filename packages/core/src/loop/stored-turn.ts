import type { Turn } from '../rings/turn/turn.ts'
import type { StoredStatus, StoredTurn } from '../seams/session-store.ts'
import { codeOf, storedReasonOf } from './end-reason.ts'

/** Returns a run in the form that stores use: its changes to the history, and the session's state after it. */
export function storedTurn(turn: Turn, status: StoredStatus): StoredTurn {
  const { session, turnId, rootId, startedAt, usage, answer, options, records } = turn
  const { version, name, clock } = session.agent.setup
  const from = Math.min(session.stored, session.history.changedFrom)
  const { history: messages, ...rest } = session.snapshot(from)
  const stored: StoredTurn = {
    turnId,
    rootId,
    agent: name,
    status,
    startedAt,
    usage: { ...usage },
    answer: answer.output,
    records: [...(records ?? [])],
    from,
    messages,
    rest,
  }
  if (version !== undefined) stored.version = version
  if (status !== 'running') stored.endedAt = clock.now()
  if (options.resume?.suspension !== undefined) stored.resumes = options.resume.suspension.turnId
  const [reason, code] = [storedReasonOf(turn), codeOf(turn)]
  if (reason !== undefined) stored.reason = reason
  if (code !== undefined) stored.code = code
  if (options.storedAs !== undefined) Object.assign(stored, options.storedAs)
  return stored
}

/** Passes the current state of a running turn to the keepers. */
export async function storeStep(turn: Turn): Promise<void> {
  for (const keeper of turn.session.keepers ?? [])
    if (keeper.step !== undefined) await keeper.step(storedTurn(turn, 'running'))
}
