import type { ManualClock } from '../../manual-clock.ts'
import { type ConformanceCase, register, type TestFunctions } from '../cases.ts'
import { timedCases } from '../timed-cases.ts'
import { addCases } from './add-cases.ts'
import { claimCases } from './claim-cases.ts'
import { endCases } from './end-cases.ts'
import { migrateCases } from './migrate-cases.ts'
import { queueCases } from './queue-cases.ts'
import { queueLimitCases } from './queue-limit-cases.ts'
import { queueOrderCases } from './queue-order-cases.ts'
import { queueRateCases } from './queue-rate-cases.ts'
import { randomQueueCases } from './random-queue-cases.ts'
import type { RunStoreParts } from './run-bench.ts'
import { stepBlobCases } from './step-blob-cases.ts'

/** Creates an empty store for one case; an in-process store uses the given clock. */
export type MakeRunStore = (given: { clock: ManualClock }) => RunStoreParts | Promise<RunStoreParts>

export interface RunStoreConformanceOptions {
  /** Opens the same store again, as another process would. @default the store itself */
  reopen?(parts: RunStoreParts, given: { clock: ManualClock }): RunStoreParts | Promise<RunStoreParts>
  /** Closes everything that a case has opened. */
  close?(parts: RunStoreParts): unknown
  /** The duration of a lease, in milliseconds. @default 1000 */
  lease?: number | undefined
  /** Lets time pass, for a store with a separate clock. @default advances the clock that `makeStore` receives */
  sleep?(ms: number): Promise<void>
  /** Cases that cannot hold, each with its reason. */
  skip?: Readonly<Record<string, string>> | undefined
}

const caseList = {
  ...addCases,
  ...claimCases,
  ...queueCases,
  ...queueLimitCases,
  ...queueRateCases,
  ...queueOrderCases,
  ...randomQueueCases,
  ...endCases,
  ...migrateCases,
  ...stepBlobCases,
}

/**
 * Returns the rules for every store of durable runs, as cases. {@link runStoreConformance} registers them. @throws TypeError when `skip`
 * names no case
 */
export function runStoreCases(makeStore: MakeRunStore, options: RunStoreConformanceOptions = {}): ConformanceCase[] {
  return timedCases('runStoreCases()', caseList, makeStore, options)
}

/**
 * Registers the suite for every `RunStore` with its `SessionStore`, with `describe` and `it` of vitest, jest or node:test.
 *
 * @example
 * runStoreConformance({ makeStore: ({ clock }) => sqlite(':memory:', { clock }), describe, it })
 */
export function runStoreConformance({
  makeStore,
  name = 'a RunStore',
  describe,
  it,
  ...options
}: RunStoreConformanceOptions & TestFunctions & { makeStore: MakeRunStore; name?: string }): void {
  register(name, runStoreCases(makeStore, options), { describe, it })
}
