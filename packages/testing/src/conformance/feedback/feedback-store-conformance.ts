import type { ManualClock } from '../../manual-clock.ts'
import { type ConformanceCase, register, type TestFunctions } from '../cases.ts'
import { timedCases } from '../timed-cases.ts'
import { eraseCases } from './erase-cases.ts'
import type { FeedbackStoreParts } from './feedback-bench.ts'
import { keepCases } from './keep-cases.ts'
import { listCases } from './list-cases.ts'

/** Creates an empty store for one case; an in-process store uses the given clock. */
export type MakeFeedbackStore = (given: { clock: ManualClock }) => FeedbackStoreParts | Promise<FeedbackStoreParts>

export interface FeedbackStoreConformanceOptions {
  /** Opens the same store again, as another process would. @default the store itself */
  reopen?(parts: FeedbackStoreParts, given: { clock: ManualClock }): FeedbackStoreParts | Promise<FeedbackStoreParts>
  /** Closes everything that a case has opened. */
  close?(parts: FeedbackStoreParts): unknown
  /** The duration of a lease, in milliseconds. @default 1000 */
  lease?: number | undefined
  /** Lets time pass, for a store with a separate clock. @default advances the clock that `makeStore` receives */
  sleep?(ms: number): Promise<void>
  /** Cases that cannot hold, each with its reason. */
  skip?: Readonly<Record<string, string>> | undefined
}

const caseList = { ...keepCases, ...listCases, ...eraseCases }

/**
 * Returns the rules for every store of feedback, as cases. {@link feedbackStoreConformance} registers them. @throws TypeError when
 * `skip` names no case
 */
export function feedbackStoreCases(
  makeStore: MakeFeedbackStore,
  options: FeedbackStoreConformanceOptions = {},
): ConformanceCase[] {
  return timedCases('feedbackStoreCases()', caseList, makeStore, options)
}

/**
 * Registers the suite for every `FeedbackStore` with its `SessionStore`, with `describe` and `it` of vitest, jest or node:test.
 *
 * @example
 * feedbackStoreConformance({ makeStore: ({ clock }) => sqlite(':memory:', { clock }), describe, it })
 */
export function feedbackStoreConformance({
  makeStore,
  name = 'a FeedbackStore',
  describe,
  it,
  ...options
}: FeedbackStoreConformanceOptions & TestFunctions & { makeStore: MakeFeedbackStore; name?: string }): void {
  register(name, feedbackStoreCases(makeStore, options), { describe, it })
}
