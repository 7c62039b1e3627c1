import { AlliumError, type SessionKey } from '@allium/core'
import type { RunKey } from './event-log.ts'

/** Returns the error for a lease that expired or was taken over. */
export function fenced({ sessionId }: SessionKey): AlliumError {
  return new AlliumError(
    'store.fenced',
    `The lease of the session "${sessionId}" was lost: it expired, and another process may have continued the session. Nothing was stored.`,
  )
}

/** Returns why a run cannot be stored at its version; undefined if it can. */
export function turnConflict(
  { sessionId }: SessionKey,
  session: { version: number; length: number },
  turn: { version: number; from: number; turnId: string },
): AlliumError | undefined {
  if (session.version !== turn.version)
    return new AlliumError(
      'store.conflict',
      `The session "${sessionId}" has ${session.version} stored turns, but ${turn.version} were expected. Load it again, and repeat the run.`,
    )
  if (turn.from <= session.length) return undefined
  return new AlliumError(
    'store.conflict',
    `The turn "${turn.turnId}" starts at message ${turn.from}, but the session "${sessionId}" has ${session.length} messages. Load it again, and repeat the run.`,
  )
}

/** Returns the error for an id that another run has. */
export function turnIdTaken({ sessionId }: SessionKey, turnId: string): AlliumError {
  return new AlliumError(
    'store.conflict',
    `The session "${sessionId}" already has a turn with the id "${turnId}", which was kept. Use turn ids that are unique in the session.`,
  )
}

/** Returns the error for a checkpoint that continues one that is not there. */
export function checkpointMissing({ sessionId }: SessionKey, turnId: string): AlliumError {
  return new AlliumError(
    'store.conflict',
    `The session "${sessionId}" has no checkpoint that the turn "${turnId}" continues. Store all of its messages.`,
  )
}

/** Returns the error for a session that is in use under another name of its agent. */
export function heldByOtherAgent({ sessionId }: SessionKey, heldUntil: number): AlliumError {
  return new AlliumError(
    'session.busy',
    `The session "${sessionId}" is running a turn under another name of its agent. Try again when it has ended.`,
    { details: { sessionId, heldUntil } },
  )
}

const refusals = {
  ended: 'it has ended',
  taken: 'another process has taken it over',
  gone: 'it was deleted, or has expired',
}

/** Returns the error for events that their run does not accept. */
export function eventsFenced({ key, turnId }: RunKey, why: keyof typeof refusals): AlliumError {
  return new AlliumError(
    'store.fenced',
    `The run "${turnId}" of the session "${key.sessionId}" accepts no more events from this process: ${refusals[why]}. Nothing was stored.`,
  )
}

/** Returns the error for a run that the event log does not know. */
export function runNotOpened({ key, turnId }: RunKey): AlliumError {
  return new AlliumError(
    'store.fenced',
    `The run "${turnId}" of the session "${key.sessionId}" is not in the event log: it was never opened, or it was deleted or has expired. Open it with an append first.`,
  )
}
