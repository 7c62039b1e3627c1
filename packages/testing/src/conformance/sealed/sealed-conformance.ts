import { type ManualClock, manualClock } from '../../manual-clock.ts'
import { type ConformanceCase, register, type TestFunctions } from '../cases.ts'
import { checkSkips } from '../check-skips.ts'
import { FailingSeals, type Seals } from './failing-seals.ts'
import { type SealedParts, sealedCaseList } from './sealed-cases.ts'

/** Creates an empty store for one case, which encrypts with `encrypt`. */
export type MakeSealedStore = (given: { clock: ManualClock; encrypt: Seals }) => SealedParts | Promise<SealedParts>

export interface SealedConformanceOptions {
  /** The parts that the store has; cases of the others are left out. @default all */
  parts?: readonly (keyof SealedParts)[] | undefined
  /** Closes everything that a case has opened. */
  close?(parts: SealedParts): unknown
  /** The duration of a lease, in milliseconds. @default 1000 */
  lease?: number | undefined
  /** Lets time pass, for a store with a separate clock. @default advances the clock */
  sleep?(ms: number): Promise<void>
  /** Cases that cannot hold, each with its reason. */
  skip?: Readonly<Record<string, string>> | undefined
}

/**
 * Returns the rules for every store that encrypts, while its key service is down or a key was deleted, as cases.
 * {@link sealedConformance} registers them.
 *
 * @throws TypeError when `skip` names no case
 */
export function sealedCases(makeStore: MakeSealedStore, options: SealedConformanceOptions = {}): ConformanceCase[] {
  const { parts = ['sessions', 'events', 'runs', 'schedules'], close, lease = 1000, sleep, skip = {} } = options
  checkSkips(skip, Object.keys(sealedCaseList))
  const applying = Object.entries(sealedCaseList).filter(([, { needs }]) => parts.includes(needs))
  return applying.map(([name, { run }]) => ({
    name,
    ...(skip[name] !== undefined && { skip: skip[name] }),
    async run() {
      const [clock, seals] = [manualClock(), new FailingSeals()]
      const made = await makeStore({ clock, encrypt: seals })
      try {
        await run({ parts: made, seals, lease, wait: sleep ?? ((ms) => clock.advance(ms)) })
      } finally {
        await close?.(made)
      }
    },
  }))
}

/**
 * Registers the suite for every store that encrypts, with `describe` and `it` of vitest, jest or node:test.
 *
 * @example
 * sealedConformance({ makeStore: ({ clock, encrypt }) => sqlite(':memory:', { clock, encrypt }), describe, it })
 */
export function sealedConformance({
  makeStore,
  name = 'a store that encrypts',
  describe,
  it,
  ...options
}: SealedConformanceOptions & TestFunctions & { makeStore: MakeSealedStore; name?: string }): void {
  register(name, sealedCases(makeStore, options), { describe, it })
}
