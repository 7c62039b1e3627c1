import { AlliumError, type SessionKey } from '@allium/core'
import { describe, type KeysOf } from '@allium/core/internal'
import type { EvalCase } from '../cases/case.ts'

/** A run in a store. */
export interface RunOfSession {
  readonly key: SessionKey
  readonly turnId: string
}

/** The part of a feedback store that is read. Every `FeedbackStore` is one. */
export interface FeedbackSource {
  /** Returns the feedback of all people on these runs: at most 1,000. */
  ofRuns(
    runs: readonly RunOfSession[],
  ): Promise<
    readonly { readonly run: RunOfSession; readonly score: number; readonly tags?: readonly string[] | undefined }[]
  >
}

/** Which stored turns become cases, and how. */
export interface CaseSelection {
  /** The name under which the agent stores its sessions. */
  agent: string
  /** Cases of one tenant only, so that no text of another one gets into a file. */
  tenant: string
  /** The largest number of cases. The newest turns are used. From 1 to 10,000. @default 200 */
  limit?: number | undefined
  /** Replaces each text of a case. @default texts as they are */
  scrub?: ((text: string) => string) | undefined
  /**
   * `answer` takes the stored answer as `expected`, except of turns that people rated badly. It is no proof that the answer was right.
   * @default 'none'
   */
  expected?: 'none' | 'answer' | undefined
  /** Adds the tags of feedback, and `rated-good` or `rated-bad`. @default none */
  feedback?: FeedbackSource | undefined
  /** Only turns that people rated so. It needs `feedback`. @default all turns */
  rated?: 'good' | 'bad' | undefined
}

export const selectionKeys: KeysOf<CaseSelection> = {
  agent: true,
  tenant: true,
  limit: true,
  scrub: true,
  expected: true,
  feedback: true,
  rated: true,
}

/** Cases from a store, and why other turns became none. */
export interface StoredCases {
  /** Oldest first. Those of one session have a `group`, because they succeed or fail together. */
  readonly cases: readonly EvalCase<string>[]
  /** Turns without a case, by reason. */
  readonly skipped: Readonly<Record<string, number>>
}

/** @throws AlliumError `options.invalid` */
export function checkSelection(selection: CaseSelection, what: string): void {
  const { agent, tenant, limit = 200, expected = 'none', feedback, rated } = selection
  if (typeof agent !== 'string' || agent === '') throw invalid(`${what} needs agent: the name of the agent.`)
  if (typeof tenant !== 'string') throw invalid(`${what} needs tenant: cases of two tenants do not belong in one file.`)
  if (!Number.isInteger(limit) || limit < 1 || limit > 10_000)
    throw invalid(`The option limit of ${what} takes a whole number from 1 to 10,000, not ${describe(limit)}.`)
  if (expected !== 'none' && expected !== 'answer')
    throw invalid(`The option expected of ${what} takes "none" or "answer", not ${describe(expected)}.`)
  if (rated !== undefined && rated !== 'good' && rated !== 'bad')
    throw invalid(`The option rated of ${what} takes "good" or "bad", not ${describe(rated)}.`)
  if (rated !== undefined && feedback === undefined) throw invalid(`The option rated of ${what} needs feedback.`)
}

function invalid(message: string): AlliumError {
  return new AlliumError('options.invalid', message)
}
