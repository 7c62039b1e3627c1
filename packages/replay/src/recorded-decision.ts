import type { ModelContext, StoredTurn, ToolContext } from '@allium/core'
import type { Decision, DecisionList } from './decisions/decision-list.ts'
import type { OpenHook } from './decisions/decision-watcher.ts'
import type { RecordedDecision } from './recorded-turn.ts'

export function recordedDecision({ hook, ctx }: OpenHook, decided: Decision): RecordedDecision {
  const { layer, scope } = hook
  const { decision, reason, answer } = decided
  const call =
    scope === 'tool' ? (ctx as ToolContext).callId : scope === 'model' ? (ctx as ModelContext).callIndex : undefined
  return {
    turnId: ctx.turnId,
    ...(layer !== undefined && { layer }),
    scope: scope as RecordedDecision['scope'],
    ...(call !== undefined && { call }),
    decision,
    ...(reason !== undefined && { reason }),
    ...(answer !== undefined && scope !== 'turn' && { answer }),
  }
}

/** Returns the denials of the outermost layers, which only the result of the turn shows. */
export function unseenDecisions(
  { turnId, calls = [], messages }: StoredTurn,
  list: DecisionList<RecordedDecision>,
): RecordedDecision[] {
  return calls.flatMap(({ callId: call, status: decision }): RecordedDecision[] => {
    if (decision !== 'denied' && decision !== 'suspended') return []
    const layer = list.outermost({ turnId, call })
    const parts = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content))
    const result = parts.find((part) => part.type === 'tool-result' && part.callId === call) as
      | { content: unknown }
      | undefined
    const reason = decision === 'denied' && typeof result?.content === 'string' ? result.content : undefined
    const by = { ...(layer !== undefined && { layer }), ...(reason !== undefined && { reason }) }
    return [{ turnId, scope: 'tool', call, decision, ...by }]
  })
}
