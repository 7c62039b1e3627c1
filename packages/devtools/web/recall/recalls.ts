import type { EventRecord } from '@allium/server/inspect'
import type { Turn } from '../store/trace.ts'

/** What a turn recalled with one question. */
export interface TurnRecall {
  readonly layer: string
  readonly question: string
  readonly places: readonly unknown[]
  /** The labels of `guard.flow` of all passages. */
  readonly labels: readonly string[]
}

interface Asked {
  readonly callId: unknown
  readonly question: string
  isAnswered: boolean
}

/**
 * Returns what a turn recalled, in order. The question is an argument of the call that asked, or else the input of the turn.
 *
 * @param input the input of the turn
 */
export function recallsOf({ events }: Pick<Turn, 'events'>, input = ''): TurnRecall[] {
  const asked: Asked[] = []
  const recalls: TurnRecall[] = []
  for (const { event } of events) {
    if ('path' in event) continue
    const question = questionIn(event)
    if (question !== undefined) asked.push({ callId: event.callId, question, isAnswered: false })
    if (event.type !== 'memory:recall') continue
    const { layer, passages, flow, callId } = event
    const by = asked.find((one) => !one.isAnswered && (callId === undefined || one.callId === callId))
    if (by !== undefined) by.isAnswered = true
    recalls.push({
      layer: String(layer),
      question: by?.question ?? input,
      places: Array.isArray(passages) ? passages : [],
      labels: labelsOf(flow),
    })
  }
  return recalls
}

function questionIn({ type, args }: EventRecord['event']): string | undefined {
  if (type !== 'tool:start') return undefined
  const { question } = (args ?? {}) as { question?: unknown }
  return typeof question === 'string' ? question : undefined
}

function labelsOf(flow: unknown): string[] {
  const { untrusted, private: secret } = (flow ?? {}) as { untrusted?: unknown; private?: unknown }
  return [...(untrusted === true ? ['untrusted'] : []), ...(secret === true ? ['private'] : [])]
}
