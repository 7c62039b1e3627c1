import type { ManualClock } from '../../manual-clock.ts'
import { type ConformanceCase, register, type TestFunctions } from '../cases.ts'
import { timedCases } from '../timed-cases.ts'
import { leaseCases } from './lease-cases.ts'
import { listCases } from './list-cases.ts'
import type { RunOperationsParts } from './operations-bench.ts'
import { timelineCases } from './timeline-cases.ts'

/** Creates an empty store for one case; an in-process store uses the given clock. */
export type MakeRunOperations = (given: { clock: ManualClock }) => RunOperationsParts | Promise<RunOperationsParts>

export interface RunOperationsConformanceOptions {
  /** Opens the same store again, as another process would. @default the store itself */
  reopen?(parts: RunOperationsParts, given: { clock: ManualClock }): RunOperationsParts | Promise<RunOperationsParts>
  /** Closes everything that a case has opened. */
  close?(parts: RunOperationsParts): unknown
  /** The duration of a lease, in milliseconds. @default 1000 */
  lease?: number | undefined
  /** Lets time pass, for a store with a separate clock. @default advances the clock that `makeStore` receives */
  sleep?(ms: number): Promise<void>
  /** Cases that cannot hold, each with its reason. */
  skip?: Readonly<Record<string, string>> | undefined
}

const caseList = { ...listCases, ...leaseCases, ...timelineCases }

/**
 * Returns the rules for every store that shows its durable runs to operators, as cases. {@link runOperationsConformance} registers them.
 *
 * @throws TypeError when `skip` names no case
 */
export function runOperationsCases(
  makeStore: MakeRunOperations,
  options: RunOperationsConformanceOptions = {},
): ConformanceCase[] {
  return timedCases('runOperationsCases()', caseList, makeStore, options)
}

/**
 * Registers the suite for every `RunOperations` with its `RunStore` and `SessionStore`, with `describe` and `it` of vitest, jest or
 * node:test.
 *
 * @example
 * runOperationsConformance({ makeStore: ({ clock }) => sqlite(':memory:', { clock }), describe, it })
 */
export function runOperationsConformance({
  makeStore,
  name = 'RunOperations',
  describe,
  it,
  ...options
}: RunOperationsConformanceOptions & TestFunctions & { makeStore: MakeRunOperations; name?: string }): void {
  register(name, runOperationsCases(makeStore, options), { describe, it })
}
