import { checkOptions, type KeysOf } from '@allium/core'
import { type ManualClock, manualClock } from '../../manual-clock.ts'
import { type ConformanceCase, register, type TestFunctions } from '../cases.ts'
import { checkSkips } from '../check-skips.ts'
import { addCases } from './add-cases.ts'
import { claimCases } from './claim-cases.ts'
import { endCases } from './end-cases.ts'
import type { RunStoreParts } from './run-bench.ts'
import { stepBlobCases } from './step-blob-cases.ts'

/** Makes an empty store for one case; one in this process goes by the clock that it is given. */
export type MakeRunStore = (given: { clock: ManualClock }) => RunStoreParts | Promise<RunStoreParts>

export interface RunStoreConformanceOptions {
  /** Opens the same store once more, as another process does. @default the store itself */
  reopen?(parts: RunStoreParts, given: { clock: ManualClock }): RunStoreParts | Promise<RunStoreParts>
  /** Closes what a case has opened. */
  close?(parts: RunStoreParts): unknown
  /** Milliseconds of a lease. @default 1000 */
  lease?: number | undefined
  /** Lets time pass, for a store that goes by a clock of its own. @default the clock that `makeStore` is given goes on */
  wait?(ms: number): Promise<void>
  /** Cases that cannot hold, each with its reason. */
  skip?: Readonly<Record<string, string>> | undefined
}

const caseList = { ...addCases, ...claimCases, ...endCases, ...stepBlobCases }

const known: KeysOf<RunStoreConformanceOptions> = { reopen: true, close: true, lease: true, wait: true, skip: true }

/** What every store of durable runs has to do, as cases. {@link runStoreConformance} registers them. @throws TypeError where `skip` names no case */
export function runStoreCases(makeStore: MakeRunStore, options: RunStoreConformanceOptions = {}): ConformanceCase[] {
  checkOptions(options, known, 'runStoreCases()', 'options.invalid')
  const { reopen, close, lease = 1000, wait, skip = {} } = options
  checkSkips(skip, Object.keys(caseList))
  return Object.entries(caseList).map(([name, run]) => ({
    name,
    ...(skip[name] !== undefined && { skip: skip[name] }),
    async run() {
      const clock = manualClock()
      const parts = await makeStore({ clock })
      const other = (await reopen?.(parts, { clock })) ?? parts
      try {
        await run({ ...parts, other, lease, wait: wait ?? ((ms) => clock.advance(ms)) })
      } finally {
        if (other !== parts) await close?.(other)
        await close?.(parts)
      }
    },
  }))
}

/**
 * Registers the suite that every `RunStore` passes beside its `SessionStore`, with `describe` and `it` of vitest, jest or node:test.
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
