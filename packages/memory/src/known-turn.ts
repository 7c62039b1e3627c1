import { AlliumError, type SessionContext, type StoredTurn, type WrappedRun } from '@allium/core'

/** Throws `run.key_reused` unless a stored turn with the id or key of a run has the same input and agent. */
export function checkKnownTurn(
  turn: StoredTurn,
  { turnId, idempotencyKey, inputDigest }: WrappedRun,
  { sessionId, agent }: SessionContext,
): void {
  const problem =
    turn.inputDigest !== inputDigest
      ? `belongs to another input of the session "${sessionId}". Use a unique one for each input.`
      : !namesOf(agent).includes(turn.agent) &&
        `belongs to a run of the agent "${turn.agent}" in the session "${sessionId}". Use a unique one for each run.`
  if (problem === false) return
  const what = idempotencyKey === undefined ? `id "${turnId}"` : `key "${idempotencyKey}"`
  throw new AlliumError('run.key_reused', `The ${what} ${problem}`, { details: { sessionId, turnId: turn.turnId } })
}

/** The names of the agent itself, without its session group, which other agents may share. */
function namesOf({ name, sessionNames }: SessionContext['agent']): readonly string[] {
  return sessionNames[0] === name ? sessionNames : sessionNames.slice(1)
}
