import type { ManualClock } from '../../manual-clock.ts'
import { type ConformanceCase, register, type TestFunctions } from '../cases.ts'
import { timedCases } from '../timed-cases.ts'
import { countCases } from './count-cases.ts'
import { eraseCases } from './erase-cases.ts'
import type { RolloutStoreParts } from './rollout-bench.ts'
import { roundCases } from './round-cases.ts'
import { windowCases } from './window-cases.ts'

/** Creates an empty store for one case; an in-process store uses the given clock. */
export type MakeRolloutStore = (given: { clock: ManualClock }) => RolloutStoreParts | Promise<RolloutStoreParts>

export interface RolloutStoreConformanceOptions {
  /** Opens the same store again, as another process would. @default the store itself */
  reopen?(parts: RolloutStoreParts, given: { clock: ManualClock }): RolloutStoreParts | Promise<RolloutStoreParts>
  /** Closes everything that a case has opened. */
  close?(parts: RolloutStoreParts): unknown
  /** The duration of a lease, in milliseconds. @default 1000 */
  lease?: number | undefined
  /** Lets time pass, for a store with a separate clock. @default advances the clock that `makeStore` receives */
  sleep?(ms: number): Promise<void>
  /** Cases that cannot hold, each with its reason. */
  skip?: Readonly<Record<string, string>> | undefined
}

const caseList = { ...countCases, ...windowCases, ...roundCases, ...eraseCases }

/**
 * Returns the rules for every store of rollouts, as cases. {@link rolloutStoreConformance} registers them. @throws TypeError when
 * `skip` names no case
 */
export function rolloutStoreCases(
  makeStore: MakeRolloutStore,
  options: RolloutStoreConformanceOptions = {},
): ConformanceCase[] {
  return timedCases('rolloutStoreCases()', caseList, makeStore, options)
}

/**
 * Registers the suite for every `RolloutStore` with its `SessionStore`, with `describe` and `it` of vitest, jest or node:test.
 *
 * @example
 * rolloutStoreConformance({ makeStore: ({ clock }) => sqlite(':memory:', { clock }), describe, it })
 */
export function rolloutStoreConformance({
  makeStore,
  name = 'a RolloutStore',
  describe,
  it,
  ...options
}: RolloutStoreConformanceOptions & TestFunctions & { makeStore: MakeRolloutStore; name?: string }): void {
  register(name, rolloutStoreCases(makeStore, options), { describe, it })
}
