import { pass } from '../compose/frame.ts'
import { AlliumError } from '../errors/allium-error.ts'
import type { BlockError } from '../errors/block-error.ts'
import { messageOf } from '../errors/describe.ts'
import { isStackOverflow } from '../errors/stack-overflow.ts'
import type { RunStatus, TurnEnd } from '../events/events.ts'
import type { TurnScope } from '../scopes/turn-scope.ts'
import { withPartial } from './partial.ts'
import type { RunResult } from './run-result.ts'

/**
 * Runs a turn from its outermost layer to its one terminal event; then `settled` is told, then deferred work awaited.
 * Rejects where the turn was aborted or failed.
 */
export async function runTurn(turn: TurnScope, settled: (end: { error?: unknown }) => void): Promise<RunResult> {
  const { session } = turn
  session.turn = turn
  session.state.beginTurn()
  session.history.closePending()
  turn.send({
    type: 'turn:start',
    sessionId: session.id,
    turnId: turn.turnId,
    turnIndex: turn.turnIndex,
    input: turn.input,
  })
  try {
    if (turn.end === undefined) await pass(turn)
  } catch (error) {
    turn.fail(layersTooDeep(error, turn))
  }
  const { end } = turn
  turn.deadlines?.clear()
  closeHistory(turn)
  turn.answer.seal()
  session.turn = undefined
  session.turnCount++
  const status = statusOf(turn)
  tellEnd(turn, status)
  if (end === undefined || end.kind === 'blocked') {
    const ended = result(turn, status as RunResult['status'])
    session.state.endTurn()
    settled({})
    if (turn.deferred !== undefined) await Promise.all(turn.deferred)
    return ended
  }
  session.state.endTurn()
  const error = withPartial(end.error, turn)
  settled({ error })
  if (turn.deferred !== undefined) await Promise.all(turn.deferred)
  throw error
}

/** A cut answer stays, marked; a blocked one goes, and its reply stands in its place. */
function closeHistory(turn: TurnScope): void {
  const { end, answer, session } = turn
  if (end === undefined) return
  turn.seal()
  answer.outlet.drop(0)
  if (end.kind === 'blocked') answer.retract((end.error as BlockError).reply)
  else if (answer.unfinished !== '')
    session.history.append({ role: 'assistant', content: answer.unfinished, interrupted: true })
}

function statusOf({ end, stopReason }: TurnScope): RunStatus {
  if (end !== undefined) return end.kind
  return stopReason === undefined ? 'completed' : 'stopped'
}

function reasonOf({ end, stopReason }: TurnScope): string | undefined {
  if (end === undefined) return stopReason
  return end.kind === 'blocked' ? (end.error as BlockError).reason : messageOf(end.error)
}

function tellEnd(turn: TurnScope, status: RunStatus): void {
  const { session, turnId, turnIndex, end } = turn
  const sessionId = session.id
  const { observers } = session.agent
  const event: TurnEnd = { type: 'turn:end', sessionId, turnId, turnIndex, status, usage: { ...turn.usage } }
  const reason = status === 'failed' ? undefined : reasonOf(turn)
  if (reason !== undefined) event.reason = reason
  if (status === 'failed' && observers.has('error'))
    observers.emit('error', { type: 'error', sessionId, turnId, error: end?.error })
  if (observers.has('turn:end'))
    observers.emit('turn:end', end === undefined ? { ...event } : { ...event, error: end.error })
  void turn.events.push(event)
}

function result(turn: TurnScope, status: RunResult['status']): RunResult {
  const { session, answer } = turn
  const reason = reasonOf(turn)
  const ended: RunResult = {
    text: answer.output ?? '',
    output: answer.output,
    status,
    state: session.state.snapshot(),
    usage: { ...turn.usage },
    messages: session.history.since(turn.from),
    toolCalls: turn.toolCalls,
    pending: session.history.pending(),
    turnId: turn.turnId,
    sessionId: session.id,
  }
  if (reason !== undefined) ended.reason = reason
  return ended
}

function layersTooDeep(error: unknown, { options: { onion } }: TurnScope): unknown {
  const depth = Math.max(onion.turn.length, onion.model.length, onion.tool.length)
  if (!isStackOverflow(error) || depth < 1000) return error
  return new AlliumError(
    'layer.too_deep',
    `${depth} layers in one scope are more than the call stack holds. Join some of them, or start Node with a larger --stack-size.`,
    { cause: error },
  )
}
