import { checkOptions, type KeysOf } from '@allium/core/internal'
import { type ManualClock, manualClock } from '../../manual-clock.ts'
import { type ConformanceCase, register, type TestFunctions } from '../cases.ts'
import { checkSkips } from '../check-skips.ts'
import { addCases } from './add-cases.ts'
import { claimCases } from './claim-cases.ts'
import { endCases } from './end-cases.ts'
import { migrateCases } from './migrate-cases.ts'
import { queueCases } from './queue-cases.ts'
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
  delay?(ms: number): Promise<void>
  /** Cases that cannot hold, each with its reason. */
  skip?: Readonly<Record<string, string>> | undefined
}

const caseList = {
  ...addCases,
  ...claimCases,
  ...queueCases,
  ...randomQueueCases,
  ...endCases,
  ...migrateCases,
  ...stepBlobCases,
}

const known: KeysOf<RunStoreConformanceOptions> = { reopen: true, close: true, lease: true, delay: true, skip: true }

/**
 * Returns the rules for every store of durable runs, as cases. {@link runStoreConformance} registers them. @throws TypeError when `skip`
 * names no case
 */
export function runStoreCases(makeStore: MakeRunStore, options: RunStoreConformanceOptions = {}): ConformanceCase[] {
  checkOptions(options, known, 'runStoreCases()', 'options.invalid')
  const { reopen, close, lease = 1000, delay, skip = {} } = options
  checkSkips(skip, Object.keys(caseList))
  return Object.entries(caseList).map(([name, run]) => ({
    name,
    ...(skip[name] !== undefined && { skip: skip[name] }),
    async run() {
      const clock = manualClock()
      const parts = await makeStore({ clock })
      const other = (await reopen?.(parts, { clock })) ?? parts
      try {
        await run({ ...parts, other, lease, wait: delay ?? ((ms) => clock.advance(ms)) })
      } finally {
        if (other !== parts) await close?.(other)
        await close?.(parts)
      }
    },
  }))
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
