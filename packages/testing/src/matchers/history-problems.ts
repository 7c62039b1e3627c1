import type { ToolCallPart } from '@allium/core'
import { type HistorySource, historyOf, wrongReceiver } from './received.ts'

/**
 * Returns the problems that a provider would reject in a history: a tool call without a result, with two, or with one before it; a result
 * without a call. Empty if every call has exactly one result after it. Calls that wait for a human are included.
 *
 * @throws TypeError for a value without messages
 */
export function historyProblems(source: HistorySource): string[] {
  const history = historyOf(source)
  if (history === undefined) throw wrongReceiver('a history, or a session', source)
  const problems: string[] = []
  const calls = new Map<string, { part: ToolCallPart; at: number; results: number }>()
  history.forEach(({ content }, at) => {
    if (typeof content === 'string') return
    for (const part of content) {
      if (part.type === 'tool-call') {
        if (calls.has(part.callId)) problems.push(`[${at}] has a second call with the id "${part.callId}"`)
        else calls.set(part.callId, { part, at, results: 0 })
      } else if (part.type === 'tool-result') {
        const call = calls.get(part.callId)
        if (call === undefined) problems.push(`[${at}] has a result for "${part.callId}", but no call came before it`)
        else if (++call.results > 1) problems.push(`[${at}] has another result for "${part.callId}"`)
      }
    }
  })
  for (const { part, at, results } of calls.values())
    if (results === 0) problems.push(`[${at}] calls ${part.name} ("${part.callId}"), which has no result`)
  return problems
}
