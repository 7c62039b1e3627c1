import type { ManualClock } from '../../manual-clock.ts'
import { type ConformanceCase, register, type TestFunctions } from '../cases.ts'
import { timedCases } from '../timed-cases.ts'
import { eraseCases } from './erase-cases.ts'
import { keepCases } from './keep-cases.ts'
import { listCases } from './list-cases.ts'
import type { RecordingStoreParts } from './recording-bench.ts'

/** Creates an empty store for one case; an in-process store uses the given clock. */
export type MakeRecordingStore = (given: { clock: ManualClock }) => RecordingStoreParts | Promise<RecordingStoreParts>

export interface RecordingStoreConformanceOptions {
  /** Opens the same store again, as another process would. @default the store itself */
  reopen?(parts: RecordingStoreParts, given: { clock: ManualClock }): RecordingStoreParts | Promise<RecordingStoreParts>
  /** Closes everything that a case has opened. */
  close?(parts: RecordingStoreParts): unknown
  /** The duration of a lease, in milliseconds. @default 1000 */
  lease?: number | undefined
  /** Lets time pass, for a store with a separate clock. @default advances the clock that `makeStore` receives */
  sleep?(ms: number): Promise<void>
  /** Cases that cannot hold, each with its reason. */
  skip?: Readonly<Record<string, string>> | undefined
}

const caseList = { ...keepCases, ...listCases, ...eraseCases }

/**
 * Returns the rules for every store of recorded turns, as cases. {@link recordingStoreConformance} registers them. @throws TypeError when
 * `skip` names no case
 */
export function recordingStoreCases(
  makeStore: MakeRecordingStore,
  options: RecordingStoreConformanceOptions = {},
): ConformanceCase[] {
  return timedCases('recordingStoreCases()', caseList, makeStore, options)
}

/**
 * Registers the suite for every `RecordingStore` with its `SessionStore`, with `describe` and `it` of vitest, jest or node:test.
 *
 * @example
 * recordingStoreConformance({ makeStore: ({ clock }) => sqlite(':memory:', { clock }), describe, it })
 */
export function recordingStoreConformance({
  makeStore,
  name = 'a RecordingStore',
  describe,
  it,
  ...options
}: RecordingStoreConformanceOptions & TestFunctions & { makeStore: MakeRecordingStore; name?: string }): void {
  register(name, recordingStoreCases(makeStore, options), { describe, it })
}
