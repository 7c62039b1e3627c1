import type { ManualClock } from '../../manual-clock.ts'
import { type ConformanceCase, register, type TestFunctions } from '../cases.ts'
import { timedCases } from '../timed-cases.ts'
import { eraseCases } from './erase-cases.ts'
import { findCases } from './find-cases.ts'
import type { PassageStoreParts } from './passage-bench.ts'
import { scopeCases } from './scope-cases.ts'
import { switchCases } from './switch-cases.ts'
import { turnCases } from './turn-cases.ts'
import { vectorCases } from './vector-cases.ts'

/** Creates an empty store for one case; an in-process store uses the given clock. */
export type MakePassageStore = (given: { clock: ManualClock }) => PassageStoreParts | Promise<PassageStoreParts>

export interface PassageStoreConformanceOptions {
  /** Opens the same store again, as another process would. @default the store itself */
  reopen?(parts: PassageStoreParts, given: { clock: ManualClock }): PassageStoreParts | Promise<PassageStoreParts>
  /** Closes everything that a case has opened. */
  close?(parts: PassageStoreParts): unknown
  /** The duration of a lease, in milliseconds. @default 1000 */
  lease?: number | undefined
  /** Lets time pass, for a store with a separate clock. @default advances the clock that `makeStore` receives */
  sleep?(ms: number): Promise<void>
  /** Cases that cannot hold, each with its reason. */
  skip?: Readonly<Record<string, string>> | undefined
}

const caseList = { ...findCases, ...scopeCases, ...turnCases, ...eraseCases, ...switchCases, ...vectorCases }

/**
 * Returns the rules for every store of passages, as cases. {@link passageStoreConformance} registers them. @throws TypeError when `skip`
 * names no case
 */
export function passageStoreCases(
  makeStore: MakePassageStore,
  options: PassageStoreConformanceOptions = {},
): ConformanceCase[] {
  return timedCases('passageStoreCases()', caseList, makeStore, options)
}

/**
 * Registers the suite for every `PassageStore` with its `SessionStore`, with `describe` and `it` of vitest, jest or node:test.
 *
 * @example
 * passageStoreConformance({ makeStore: ({ clock }) => sqlite(':memory:', { clock }), describe, it })
 */
export function passageStoreConformance({
  makeStore,
  name = 'a PassageStore',
  describe,
  it,
  ...options
}: PassageStoreConformanceOptions & TestFunctions & { makeStore: MakePassageStore; name?: string }): void {
  register(name, passageStoreCases(makeStore, options), { describe, it })
}
