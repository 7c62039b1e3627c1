import { AlliumError } from '../errors/allium-error.ts'
import type { BlockError } from '../errors/block-error.ts'
import { isStackOverflow } from '../errors/stack-overflow.ts'
import type { RunStatus, TurnEnd, TurnStart } from '../events/events.ts'
import { jsonSafe } from '../messages/json-safe.ts'
import type { RunEnd } from '../rings/turn/finalizers.ts'
import type { Turn } from '../rings/turn/turn.ts'
import { addDetails } from './answer-details.ts'
import { reasonOf } from './end-reason.ts'
import { partialOf, withPartial } from './partial.ts'
import { refuseForged } from './provider-approvals.ts'
import type { RunResult } from './run-result.ts'
import { statusOf } from './status.ts'
import { store } from './store.ts'
import { suspend } from './suspend.ts'

/**
 * Runs a turn from its outermost layer to its one terminal event. Then it runs the `onEnd()` handlers, calls `settled`,
 * and waits for deferred work.
 * Rejects if the turn was aborted or failed.
 */
export async function runTurn(
  turn: Turn,
  settled: (end: { error?: unknown; result?: RunResult }) => void,
  parse?: (text: string) => Promise<unknown>,
): Promise<RunResult> {
  const { session } = turn
  begin(turn)
  let output: unknown
  try {
    if (session.history.isRestored) await refuseForged(session)
    if (turn.end === undefined) await turn.lifecycle.start()
  } catch (error) {
    if (turn.end === undefined) turn.lifecycle.close('failed', layersTooDeep(error, turn))
  }
  const unwinding = turn.lifecycle.gracePeriod.unwound()
  if (unwinding !== undefined) await unwinding
  try {
    if (turn.isSuspended && turn.end === undefined) await suspend(turn)
    if (parse !== undefined && statusOf(turn) === 'completed') output = await parse(turn.answer.output ?? '')
  } catch (error) {
    turn.lifecycle.close('failed', error)
  }
  turn.lifecycle.clearDeadlines()
  turn.steering?.close()
  closeHistory(turn)
  turn.answer.outputSink.seal()
  const afterwards = session.keepers === undefined ? undefined : await store(turn, session.keepers)
  session.turn = undefined
  const { end } = turn
  const status = statusOf(turn)
  const turnEnd = emitEnd(turn, status)
  if (turn.startedFinalizers !== undefined) await turn.startedFinalizers.run(turnEnd)
  if (end === undefined || end.kind === 'blocked') {
    const ended = result(turn, status as RunResult['status'])
    if (parse !== undefined) ended.output = (output ?? null) as RunResult['output']
    session.state.endTurn()
    afterwards?.()
    settled({ result: ended })
    if (turn.startedFinalizers !== undefined) await turn.startedFinalizers.settled()
    return ended
  }
  session.state.endTurn()
  const error = withPartial(end.error, partialOf(turn))
  afterwards?.()
  settled({ error })
  if (turn.startedFinalizers !== undefined) await turn.startedFinalizers.settled()
  throw error
}

function begin(turn: Turn): void {
  const { session, turnId, turnIndex } = turn
  const resumes = turn.options.resume?.suspension
  session.turn = turn
  if (resumes === undefined) session.state.beginTurn()
  else session.state.restore(resumes.state)
  const event: TurnStart = { type: 'turn:start', sessionId: session.id, turnId, turnIndex }
  turn.send(resumes === undefined ? event : { ...event, resumes: resumes.turnId })
}

/** Closes the history of a turn. An interrupted answer stays and is marked. A blocked answer is replaced with its reply. */
function closeHistory(turn: Turn): void {
  const { end, answer, transcript } = turn
  if (end === undefined && turn.isSuspended) return
  if (end !== undefined) {
    transcript.cancelCalls()
    answer.dropUnseen()
    answer.outputSink.drop(0)
    if (end.kind === 'blocked') answer.retract((end.error as BlockError).reply)
    else answer.cutOff()
  }
  transcript.close()
  turn.session.endTurn(turn.turnId)
}

/** Adds the code and the retry time of a block. */
function addCode(of: { code?: string; retryAfter?: number }, { end }: Turn): void {
  if (end?.kind !== 'blocked') return
  const { code, retryAfter } = end.error as BlockError
  if (code !== undefined) of.code = code
  if (retryAfter !== undefined) of.retryAfter = retryAfter
}

function emitEnd(turn: Turn, status: RunStatus): RunEnd {
  const { session, turnId, turnIndex, end } = turn
  const sessionId = session.id
  const { observers } = session.agent
  const event: TurnEnd = { type: 'turn:end', sessionId, turnId, turnIndex, status, usage: { ...turn.usage } }
  const reason = status === 'failed' ? undefined : reasonOf(turn)
  if (reason !== undefined) event.reason = reason
  if (status === 'failed' && observers.has('error'))
    observers.emit('error', { type: 'error', sessionId, turnId, error: end?.error })
  addCode(event, turn)
  const full = end === undefined ? event : { ...event, error: end.error }
  turn.display?.flush()
  turn.hasEnded = true
  if (observers.has('turn:end')) observers.emit('turn:end', { ...full })
  const pending = status === 'suspended' ? { pending: session.pending } : undefined
  void turn.events.push(pending === undefined ? event : { ...event, ...pending })
  return full
}

function result(turn: Turn, status: RunResult['status']): RunResult {
  const { session, answer } = turn
  const reason = reasonOf(turn)
  const ended: RunResult = jsonSafe({
    text: turn.display?.whole(answer.output ?? '') ?? answer.output ?? '',
    output: answer.output,
    status,
    state: session.state.snapshot(),
    usage: { ...turn.usage },
    messages: session.history.since(session.history.changedFrom),
    toolCalls: turn.toolCalls,
    pending: session.pending,
    turnId: turn.turnId,
    sessionId: session.id,
  })
  if (reason !== undefined) ended.reason = reason
  addDetails(ended, answer)
  addCode(ended, turn)
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
