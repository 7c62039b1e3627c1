import { type Message, noUsage, type StoredTurn, type ToolStatus, type Usage } from '@allium/core'
import { resultText } from '@allium/core/internal'
import type { RunKey } from '@allium/store'

/** A tool call, with its result as sent to the model. */
export interface ServedCall {
  readonly name: string
  readonly args: unknown
  readonly status: ToolStatus
  readonly content: string
}

/** A turn that has ended, for its score. It does not say which arm served it. */
export interface ServedTurn {
  readonly rollout: string
  /** The run that ended the turn. The store of the sessions has it. */
  readonly run: RunKey
  readonly status: 'completed' | 'stopped' | 'blocked'
  /** Why it was stopped or blocked. */
  readonly reason?: string
  /** The answer; an empty text if there is none. */
  readonly text: string
  /** What the turn added to the history. */
  readonly messages: readonly Message[]
  /** In the model's order. */
  readonly calls: readonly ServedCall[]
  readonly usage: Usage
  /** Milliseconds. */
  readonly duration: number
}

/** The outcome of a turn: a score from 0 to 1, `true` for 1, `false` for 0, or undefined if it has none. */
export type Outcome = number | boolean | undefined | { readonly score?: number | undefined }
/** Scores a turn after it has ended. An error means that the turn has no outcome. */
export type ScoreTurn = (turn: ServedTurn) => Outcome | Promise<Outcome>

/** Returns a turn for its score; undefined if it has no status that could be scored. */
export function servedTurn(rollout: string, run: RunKey, turn: StoredTurn): ServedTurn | undefined {
  const { status, reason, answer, messages, startedAt, endedAt = startedAt } = turn
  if (status !== 'completed' && status !== 'stopped' && status !== 'blocked') return undefined
  const results = new Map(
    messages.flatMap(({ content }) =>
      typeof content === 'string'
        ? []
        : content.flatMap((part) => (part.type === 'tool-result' ? [[part.callId, part] as const] : [])),
    ),
  )
  const calls = (turn.calls ?? []).map(({ callId, name, args, status: callStatus }) => {
    const content = resultText(results.get(callId)?.content ?? '')
    return { name, args, status: callStatus, content }
  })
  return {
    ...{ rollout, run, status, ...(reason !== undefined && { reason }) },
    ...{ text: answer ?? '', messages, calls, usage: { ...noUsage(), ...turn.usage }, duration: endedAt - startedAt },
  }
}

/**
 * Returns a function that scores a turn with a scorer of `@allium/evals`. A scorer that needs an expected answer or decisions of layers
 * cannot score it, because a live turn has neither.
 *
 * @example
 * agent.use(rollout(newTone, { percent: 10, score: scoredBy(score.judge({ model, rubric: 'The answer is polite.' })) }))
 */
export function scoredBy(scorer: (run: never) => unknown): ScoreTurn {
  return (turn) => {
    const input = turn.messages.filter(({ role }) => role === 'user')
    const run = {
      ...turn,
      ...{ case: { id: turn.run.turnId, input }, expected: undefined, trial: 0, baseline: undefined },
      ...{ output: turn.text, steps: turn.messages.filter(({ role }) => role === 'assistant').length },
      signal: new AbortController().signal,
      get decisions(): never {
        throw new TypeError('A rollout does not know the decisions of layers. Use a scorer of answers or calls.')
      },
    }
    return scorer(run as never) as Outcome | Promise<Outcome>
  }
}
