import { AlliumError, isAlliumError } from '../errors/allium-error.ts'
import type { BlockError } from '../errors/block-error.ts'
import { messageOf } from '../errors/describe.ts'
import { isStackOverflow } from '../errors/first-error.ts'
import type { RunEnd, RunStatus, TurnEnd, TurnStart } from '../events/events.ts'
import { jsonSafe } from '../messages/json-safe.ts'
import type { Validate } from '../ports/validate.ts'
import type { SessionScope } from '../session/scope/session-scope.ts'
import { addDetails, partialOf, type RunResult, reasonOf, statusOf, withPartial } from './run-result.ts'
import type { Turn } from './turn.ts'

/** Runs a turn until its layers have returned and its history is final. Its errors are its end, so it does not reject. */
export async function runLayers(
  turn: Turn,
  parse?: (text: string, validate: Validate | undefined) => Promise<unknown>,
): Promise<Turn> {
  const { session, lifecycle } = turn
  begin(turn)
  try {
    if (session.history.isRestored) await refuseForged(session)
    if (lifecycle.end === undefined) await lifecycle.start()
  } catch (error) {
    if (lifecycle.end === undefined) lifecycle.close('failed', layersTooDeep(error, turn))
  }
  const unwinding = lifecycle.gracePeriod.unwound()
  if (unwinding !== undefined) await unwinding
  try {
    if (turn.inbox !== undefined) await turn.loadSteering()
    if (turn.steps !== undefined && !isAlliumError(lifecycle.end?.error, 'journal.diverged'))
      turn.journal.checkEnd?.(turn.turnId)
    if (turn.isSuspended && lifecycle.end === undefined) await (await import('../later.ts')).suspend(turn)
    if (parse !== undefined && statusOf(turn) === 'completed')
      turn.structuredOutput = await parse(turn.answer.output ?? '', session.agent.setup.validate)
  } catch (error) {
    lifecycle.close('failed', error)
  }
  lifecycle.clearDeadlines()
  turn.steering?.close()
  closeHistory(turn)
  turn.answer.outputSink.seal()
  return turn
}

/** Checks the approvals in a restored history, where the agent has a secret for them. */
async function refuseForged(session: SessionScope): Promise<void> {
  session.history.isRestored = false
  const { secret } = session.agent.setup.approvals
  if (secret !== undefined) await (await import('../later.ts')).refuseForged(session, secret)
}

/**
 * Ends a turn: emits its one terminal event, runs the `onEnd()` handlers, calls `settled`, and waits for deferred work.
 *
 * @param rollback called if the turn could not be stored
 * @throws the turn's error if it was aborted or failed
 */
export function endTurn(
  turn: Turn,
  settled: (end: { error?: unknown; result?: RunResult }) => void,
  rollback?: () => void,
): RunResult | Promise<RunResult> {
  const { session } = turn
  const { end } = turn.lifecycle
  session.turn = undefined
  const status = statusOf(turn)
  const why = whyOf(turn, status)
  const turnEnd = emitEnd(turn, status, why)
  const settle = () => {
    const outcome =
      end === undefined || end.kind === 'blocked'
        ? { result: result(turn, status as RunResult['status'], why) }
        : { error: withPartial(end.error, partialOf(turn)) }
    session.state.endTurn()
    rollback?.()
    settled(outcome)
    if (outcome.result === undefined) throw outcome.error
    return outcome.result
  }
  const { startedFinalizers } = turn
  return startedFinalizers === undefined ? settle() : startedFinalizers.around(turnEnd, settle)
}

/**
 * A wrapper of an ended run has failed. This fails the run too, unless it has ended early.
 *
 * @returns a function that rolls the run back, or keeps it to be stored with the next one
 */
export function notStored(turn: Turn, error: unknown): () => void {
  const { session, turnId, lifecycle } = turn
  if (!turn.isLost) {
    if (lifecycle.end === undefined) lifecycle.close('failed', error)
    // The run already ends with another error, so its caller does not get this one.
    else if (lifecycle.end.error !== error)
      session.agent.setup.logger.error(`The session "${session.id}" could not be stored: ${messageOf(error)}`, {
        error,
        turnId,
      })
  }
  return () => {
    const ran = turn.toolCalls.some(({ result: { status } }) => status === 'ok' || status === 'error')
    session.onNotStored(turn.options.resume !== undefined || ran)
  }
}

function begin(turn: Turn): void {
  const { session, turnId, turnIndex } = turn
  const resumes = turn.options.resume?.suspension
  session.turn = turn
  if (resumes === undefined) session.state.beginTurn()
  const event: TurnStart = { type: 'turn:start', sessionId: session.id, turnId, turnIndex }
  turn.send(resumes === undefined ? event : { ...event, resumes: resumes.turnId })
}

/** Closes the history of a turn. An interrupted answer stays and is marked. A blocked answer is replaced with its reply. */
function closeHistory({ lifecycle: { end }, isSuspended, answer, transcript, session, turnId }: Turn): void {
  if (end === undefined && isSuspended) return
  if (end !== undefined) {
    transcript.cancelCalls()
    answer.dropUnseen()
    answer.outputSink.drop(0)
    if (end.kind === 'blocked') answer.retract((end.error as BlockError).reply)
    else answer.cutOff()
  }
  session.history.closeAwaited()
  session.endTurn(turnId)
}

type Why = Pick<RunResult, 'reason' | 'code' | 'retryAfter'>

/** Returns why a run was stopped or ended early, with the code and the retry time of a block. */
function whyOf(turn: Turn, status: RunStatus): Why {
  const why: Why = {}
  const reason = status === 'failed' ? undefined : reasonOf(turn)
  if (reason !== undefined) why.reason = reason
  const { end } = turn.lifecycle
  if (end?.kind !== 'blocked') return why
  const { code, retryAfter } = end.error as BlockError
  if (code !== undefined) why.code = code
  if (retryAfter !== undefined) why.retryAfter = retryAfter
  return why
}

function emitEnd(turn: Turn, status: RunStatus, why: Why): RunEnd {
  const { session, turnId, turnIndex, lifecycle } = turn
  const { end } = lifecycle
  const sessionId = session.id
  const { observers } = session.agent
  const event: TurnEnd = { type: 'turn:end', sessionId, turnId, turnIndex, status, usage: { ...turn.usage }, ...why }
  if (status === 'failed' && observers.events.has('error'))
    observers.emit('error', { type: 'error', sessionId, turnId, error: end?.error })
  const full = end === undefined ? event : { ...event, error: end.error }
  turn.display?.flush()
  turn.hasEnded = true
  if (observers.events.has('turn:end')) observers.emit('turn:end', { ...full })
  void turn.events.push(status === 'suspended' ? { ...event, pending: session.pending } : event)
  return full
}

function result(turn: Turn, status: RunResult['status'], why: Why): RunResult {
  const { session, answer } = turn
  const { output } = answer
  const ended: RunResult = jsonSafe({
    text: turn.display?.whole(output ?? '') ?? output ?? '',
    output,
    status,
    ...why,
    state: session.state.snapshot(),
    usage: { ...turn.usage },
    messages: session.history.since(session.history.changedFrom),
    toolCalls: turn.toolCalls,
    pending: session.pending,
    turnId: turn.turnId,
    sessionId: session.id,
  })
  if (turn.options.format !== undefined) ended.output = (turn.structuredOutput ?? null) as RunResult['output']
  addDetails(ended, answer)
  const resumes = turn.options.resume?.suspension?.turnId
  if (resumes !== undefined) ended.resumes = resumes
  return ended
}

function layersTooDeep(error: unknown, { options: { onion } }: Turn): unknown {
  const depth = Math.max(onion.turn.length, onion.model.length, onion.tool.length)
  if (!isStackOverflow(error) || depth < 1000) return error
  return new AlliumError(
    'layer.too_deep',
    `${depth} layers in one scope overflow the call stack. Merge some of them, or start Node with a larger --stack-size.`,
    { cause: error },
  )
}
