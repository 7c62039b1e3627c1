import { AlliumError } from '../errors/allium-error.ts'
import { noUsage } from '../messages/usage.ts'
import type { StoredStatus, StoredTurn } from '../ports/session-store.ts'
import type { SessionScope } from '../session/scope/session-scope.ts'
import { reasonOf, statusOf } from './run-result.ts'
import type { Turn } from './turn.ts'

/** Returns how many messages of a run are the same as at its last step, and tracks changes from now on. */
export function unchangedMessages(session: SessionScope): number {
  const { history } = session
  const count = Math.max(0, history.unchangedTo - startOf(session))
  history.unchangedTo = history.items.length
  return count
}

/** Returns the index of the first message that the run changed or that is not stored. */
function startOf({ stored, history }: SessionScope): number {
  return Math.min(stored, history.changedFrom)
}

/**
 * Returns a run in the form that stores use: its changes to the history, and the session's state after it.
 *
 * @param after leaves out so many messages
 */
export function storedTurn(turn: Turn, status: StoredStatus, after = 0): StoredTurn {
  const { session, turnId, rootId, startedAt, usage, answer, options, records, toolCalls } = turn
  const from = startOf(session)
  const stored: StoredTurn = {
    ...entryOf(session, status, from + after, turnId),
    from,
    rootId,
    startedAt,
    usage: { ...usage },
    answer: answer.output,
    records: [...(records ?? [])],
    calls: toolCalls.map(({ callId, name, args, result }) => ({ callId, name, args, status: result.status })),
  }
  if (options.resume?.suspension !== undefined) stored.resumes = options.resume.suspension.turnId
  const [reason, code] = [storedReasonOf(turn), codeOf(turn)]
  if (reason !== undefined) stored.reason = reason
  if (code !== undefined) stored.code = code
  if (answer.response !== undefined) stored.finishReason = answer.response.finishReason
  return Object.assign(stored, options.storedAs)
}

/**
 * Returns a turn that has ended, to be stored.
 *
 * @throws if another process continues the run, so that its outcome here is not final; or if the run differs from its recording, so that
 * the code that began it can still continue it
 */
export function endedTurn(turn: Turn): StoredTurn {
  const { end } = turn.lifecycle
  if (codeOf(turn) === 'journal.diverged') throw end?.error
  turn.isLost = turn.journal.takenOver === true
  if (turn.isLost)
    throw end?.error ?? new AlliumError('run.interrupted', `Another process continues the run "${turn.turnId}".`)
  return storedTurn(turn, statusOf(turn))
}

/** Returns the current session as an entry, with the history from an index on. */
export function entryOf(session: SessionScope, status: StoredStatus, from: number, id?: string): StoredTurn {
  const { version, name } = session.agent.setup
  const { history: messages, ...rest } = session.snapshot(from)
  const turnId = id ?? session.nextTurnId()
  const now = session.clock.now()
  return {
    turnId,
    rootId: turnId,
    agent: name,
    ...(version !== undefined && { version }),
    status,
    startedAt: now,
    ...(status !== 'running' && { endedAt: now }),
    usage: noUsage(),
    answer: null,
    records: [],
    from,
    messages,
    rest,
  }
}

/**
 * Returns the reason to store. For errors that are not Allium's it is only the class name, because their messages may
 * contain anything.
 */
function storedReasonOf(turn: Turn): string | undefined {
  const { end } = turn.lifecycle
  if (end === undefined || end.kind === 'blocked' || end.error instanceof AlliumError) return reasonOf(turn)
  const name = (end.error as { name?: unknown } | undefined)?.name
  return name === undefined ? undefined : String(name)
}

/** Returns the code of the error that ended the run. A failed run has one, whatever its error. */
function codeOf({ lifecycle: { end } }: Turn): string | undefined {
  const { code, status } = (end?.error ?? {}) as { code?: unknown; status?: unknown }
  if (typeof code === 'string') return code
  if (end?.kind !== 'failed') return undefined
  return typeof status === 'number' ? 'model.failed' : 'run.failed'
}
