import type { ManualClock } from '../../manual-clock.ts'
import { type ConformanceCase, register, type TestFunctions } from '../cases.ts'
import { timedCases } from '../timed-cases.ts'
import { putCases } from './put-cases.ts'
import type { ScheduleStoreParts } from './schedule-bench.ts'
import { tickCases } from './tick-cases.ts'

/** Creates an empty store for one case; an in-process store uses the given clock. */
export type MakeScheduleStore = (given: { clock: ManualClock }) => ScheduleStoreParts | Promise<ScheduleStoreParts>

export interface ScheduleStoreConformanceOptions {
  /** Opens the same store again, as another process would. @default the store itself */
  reopen?(parts: ScheduleStoreParts, given: { clock: ManualClock }): ScheduleStoreParts | Promise<ScheduleStoreParts>
  /** Closes everything that a case has opened. */
  close?(parts: ScheduleStoreParts): unknown
  /** The duration of a claim, in milliseconds. @default 1000 */
  lease?: number | undefined
  /** Lets time pass, for a store with a separate clock. @default advances the clock that `makeStore` receives */
  sleep?(ms: number): Promise<void>
  /** Cases that cannot hold, each with its reason. */
  skip?: Readonly<Record<string, string>> | undefined
}

const caseList = { ...putCases, ...tickCases }

/**
 * Returns the rules for every store of schedules, as cases. {@link scheduleStoreConformance} registers them. @throws TypeError when `skip`
 * names no case
 */
export function scheduleStoreCases(
  makeStore: MakeScheduleStore,
  options: ScheduleStoreConformanceOptions = {},
): ConformanceCase[] {
  return timedCases('scheduleStoreCases()', caseList, makeStore, options)
}

/**
 * Registers the suite for every `ScheduleStore` with its `RunStore`, with `describe` and `it` of vitest, jest or node:test.
 *
 * @example
 * scheduleStoreConformance({ makeStore: ({ clock }) => sqlite(':memory:', { clock }), describe, it })
 */
export function scheduleStoreConformance({
  makeStore,
  name = 'a ScheduleStore',
  describe,
  it,
  ...options
}: ScheduleStoreConformanceOptions & TestFunctions & { makeStore: MakeScheduleStore; name?: string }): void {
  register(name, scheduleStoreCases(makeStore, options), { describe, it })
}
