import type { ReadTurn } from '../recorded/read-recordings.ts'
import { type CallOutcome, callKey, type RecordedOutcome } from './recorded-calls.ts'
import type { BacktestCall, TurnBacktest } from './turn-backtest.ts'

/** How a call ends otherwise than it did. `answered`: a layer now answers instead of the tool. */
export type BacktestChangeKind = 'newly denied' | 'newly allowed' | 'newly waiting' | 'newly answered'

/** A recorded call that the changed agent decides otherwise. */
export interface BacktestChange {
  readonly change: BacktestChangeKind
  /** The layer that decides it now; of a newly allowed call, the layer that decided it then. Undefined for the core. */
  readonly layer: string | undefined
  /** The reason of that layer. */
  readonly reason: string | undefined
  /** How it ended when it was recorded. */
  readonly before: CallOutcome
  readonly tool: string
  readonly callId: string
  readonly turnId: string
  readonly sessionId: string
  readonly tenant: string
  /** The owner of the session: the user, if the principal has one. */
  readonly owner: string
  readonly principal: unknown
  /** When the turn began, in milliseconds since the epoch. */
  readonly startedAt: number
  /** Whether an earlier call of the turn ended otherwise, so that the model might not have made this one. */
  readonly afterChange: boolean
  /** The hooks of the layer that did not run. If there are any, replay the turn instead. */
  readonly withoutHooks: readonly string[]
}

/** The result of one turn. */
export interface JudgedTurn {
  readonly judged: number
  /** Judged calls after a changed call of the same turn. */
  readonly afterChange: number
  readonly changes: readonly BacktestChange[]
  /** Why each of the other calls was not judged. */
  readonly notJudged: readonly string[]
  readonly diverged: string | undefined
}

/** Compares the calls of a turn with the recorded ones. */
export function judgeTurn(
  { key, turnId, recorded: { principal, startedAt } }: ReadTurn,
  turn: TurnBacktest,
  hooksOf: (layer: string | undefined) => readonly string[],
): JudgedTurn {
  const { tenant, owner, sessionId } = key
  const changes: BacktestChange[] = []
  let [judged, afterChange] = [0, 0]
  const unjudged = new Set(turn.recorded.keys)
  for (const call of turn.calls.values()) {
    if (call.outcome === undefined) continue
    unjudged.delete(call.key)
    judged++
    const follows = changes.length > 0
    if (follows) afterChange++
    const then = turn.recorded.outcome(call.key)
    const change = changeOf(call, then)
    if (change === undefined) continue
    const { layer, reason } = change === 'newly allowed' ? then : call
    changes.push({
      ...{ change, layer, reason, before: then.outcome, tool: call.tool, callId: call.callId, turnId },
      ...{ sessionId, tenant, owner, principal, startedAt, afterChange: follows, withoutHooks: hooksOf(layer) },
    })
  }
  const why = turn.cut ?? (changes.some(isWaiting) ? 'after a newly waiting call' : 'the turn ended before it')
  const own = callKey(turnId, '')
  const notJudged = Array.from(unjudged, (call) => (call.startsWith(own) ? why : (turn.cut ?? notEntered)))
  return { judged, afterChange, changes, notJudged, diverged: turn.diverged }
}

const notEntered = 'inside a sub-agent that was not entered'

const changes: Readonly<Record<CallOutcome, BacktestChangeKind>> = {
  allowed: 'newly allowed',
  denied: 'newly denied',
  waiting: 'newly waiting',
  answered: 'newly answered',
}

function changeOf(call: BacktestCall, then: RecordedOutcome): BacktestChangeKind | undefined {
  const { outcome, entered } = call
  if (outcome === undefined || outcome === then.outcome) return undefined
  // The calls of its sub-agent tell how it ended, or a cache that is passed by answered it.
  if (entered && outcome !== 'denied') return undefined
  return changes[outcome]
}

function isWaiting({ change }: BacktestChange): boolean {
  return change === 'newly waiting'
}
