import { type ManualClock, manualClock } from '../../manual-clock.ts'
import { type ConformanceCase, casesOf, register, type TestFunctions } from '../cases.ts'
import type { ErasureParts } from './erasure-bench.ts'
import { erasureCaseList } from './erasure-cases.ts'

/** Creates an empty store for one case. */
export type MakeErasableStore = (given: { clock: ManualClock }) => ErasureParts | Promise<ErasureParts>

export interface ErasureConformanceOptions {
  /** Returns everything that the store contains, as text: its files, its tables, its keys. @default not checked */
  contents?(store: ErasureParts): string | undefined | Promise<string | undefined>
  /** Closes everything that a case has opened. */
  close?(store: ErasureParts): unknown
  /** The duration of a lease, in milliseconds. @default 1000 */
  lease?: number | undefined
  /** Returns milliseconds since the epoch, for a store with a separate clock. @default that of the clock */
  now?(): number
  /** Lets time pass, for such a store. @default advances the clock */
  sleep?(ms: number): Promise<void>
  /** The seed of the random erasures; the same seed gives the same erasures. @default 1 */
  seed?: number | undefined
  /** Cases that cannot hold, each with its reason. */
  skip?: Readonly<Record<string, string>> | undefined
}

/**
 * Returns the rules for erasing a tenant or an owner in any store, as cases. {@link erasureConformance} registers them. @throws TypeError
 * when `skip` names no case
 */
export function erasureCases(makeStore: MakeErasableStore, options: ErasureConformanceOptions = {}): ConformanceCase[] {
  const { contents, close, lease = 1000, seed = 1, skip = {} } = options
  return casesOf(erasureCaseList, skip, async (run) => {
    const clock = manualClock()
    const store = await makeStore({ clock })
    const now = options.now ?? (() => clock.now())
    const wait = options.sleep ?? ((ms) => clock.advance(ms))
    try {
      await run({ store, lease, seed, now, wait, contents: async () => contents?.(store) })
    } finally {
      await close?.(store)
    }
  })
}

/**
 * Registers the suite for every store that supports erasure, with `describe` and `it` of vitest, jest or node:test.
 *
 * @example
 * erasureConformance({ makeStore: ({ clock }) => sqlite(path, { clock }), contents: () => readFileSync(path, 'latin1'), describe, it })
 */
export function erasureConformance({
  makeStore,
  name = 'a store that erases',
  describe,
  it,
  ...options
}: ErasureConformanceOptions & TestFunctions & { makeStore: MakeErasableStore; name?: string }): void {
  register(name, erasureCases(makeStore, options), { describe, it })
}
