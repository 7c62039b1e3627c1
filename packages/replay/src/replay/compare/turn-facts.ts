import type { Message } from '@allium/core'
import { fullRequests } from '../../recorded/full-requests.ts'
import type { RecordedDecision, RecordedTurn } from '../../recorded-turn.ts'
import type { TurnReplay } from '../turn-replay.ts'
import type { TurnToReplay } from '../turn-to-replay.ts'

/** A model call as it was sent. */
export interface RequestFacts {
  readonly turnId: string
  readonly call: number
  readonly attempt: number
  readonly fields: Readonly<Record<'model' | 'tools' | 'settings' | 'toolChoice' | 'responseFormat', unknown>>
  readonly messages: readonly Message[]
}

/** What a comparison uses of a turn, recorded or replayed. */
export interface TurnFacts {
  readonly requests: readonly RequestFacts[]
  readonly decisions: readonly RecordedDecision[]
  /** Undefined for a replay that diverged. */
  readonly result: RecordedTurn['result'] | undefined
  /** The results that the models received, by the turn and the id of the call. */
  readonly contents: ReadonlyMap<string, unknown>
}

/** @throws AlliumError `recording.invalid` if a request refers to a message that does not exist */
export function recordedFacts({ recorded, before }: TurnToReplay): TurnFacts {
  const requests = fullRequests(recorded, before.history).map(
    ({ turnId, call, attempt, messages, model, tools, settings, toolChoice, responseFormat }): RequestFacts => ({
      ...{ turnId, call, attempt, messages },
      fields: { model, tools, settings, toolChoice, responseFormat },
    }),
  )
  return factsOf(requests, recorded.decisions, recorded.result)
}

export function replayedFacts({ requests: sent, decisions, stored, divergence }: TurnReplay): TurnFacts {
  const requests = sent.map(({ turnId, call, attempt, model, request }): RequestFacts => {
    const { messages, tools, settings, toolChoice, responseFormat } = request
    return { turnId, call, attempt, messages, fields: { model, tools, settings, toolChoice, responseFormat } }
  })
  return factsOf(requests, decisions, divergence === undefined ? stored : undefined)
}

function factsOf(
  requests: readonly RequestFacts[],
  decisions: TurnFacts['decisions'],
  result: TurnFacts['result'],
): TurnFacts {
  const contents = new Map<string, unknown>()
  for (const { turnId, messages } of requests)
    for (const { content } of messages)
      for (const part of typeof content === 'string' ? [] : content) {
        if (part.type !== 'tool-result') continue
        const key = contentKey(turnId, part.callId)
        if (!contents.has(key)) contents.set(key, part.content)
      }
  // What the core decides is a part of the outcome.
  return { requests, decisions: decisions.filter(({ layer }) => layer !== undefined), result, contents }
}

function contentKey(turnId: string, callId: string): string {
  return `${turnId}\n${callId}`
}
