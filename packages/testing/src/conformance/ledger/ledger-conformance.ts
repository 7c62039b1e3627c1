import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { Ledger } from '@allium/store'
import { type ManualClock, manualClock } from '../../manual-clock.ts'
import { type ConformanceCase, casesOf, register, type TestFunctions } from '../cases.ts'
import { ledgerCaseList } from './ledger-cases.ts'

/** Creates an empty ledger for one case. Its holds use this clock, which the suite advances. */
export type MakeLedger = (given: { clock: ManualClock }) => Ledger | Promise<Ledger>

export interface LedgerConformanceOptions {
  /** Opens the same accounts again, as another process would. @default the ledger itself */
  reopen?(ledger: Ledger): Ledger | Promise<Ledger>
  /** Closes everything that a case has opened. */
  close?(ledger: Ledger): unknown
  /** The duration of a hold that is supposed to expire, in milliseconds. @default 1000 */
  lease?: number | undefined
  /** Lets time pass, for a ledger that uses its server's clock: a real sleep, with a short `lease`. @default advances the clock */
  sleep?(ms: number): Promise<void>
  /** The seed of the random posts; the same seed gives the same posts. @default 1 */
  seed?: number | undefined
  /** Cases that cannot hold, each with its reason. */
  skip?: Readonly<Record<string, string>> | undefined
}

const known: KeysOf<LedgerConformanceOptions> = {
  reopen: true,
  close: true,
  lease: true,
  sleep: true,
  seed: true,
  skip: true,
}

/**
 * Returns the rules for every {@link Ledger}, as cases. {@link ledgerConformance} registers them. @throws TypeError when `skip` names no
 * case
 */
export function ledgerCases(makeLedger: MakeLedger, options: LedgerConformanceOptions = {}): ConformanceCase[] {
  checkOptions(options, known, 'ledgerCases()', 'options.invalid')
  const { reopen, close, seed = 1, lease = 1000, skip = {} } = options
  return casesOf(ledgerCaseList, skip, async (run) => {
    const clock = manualClock()
    const wait = options.sleep ?? ((ms) => clock.advance(ms))
    const ledger = await makeLedger({ clock })
    const other = (await reopen?.(ledger)) ?? ledger
    try {
      await run({ ledger, other, seed, ttl: lease, wait })
    } finally {
      if (other !== ledger) await close?.(other)
      await close?.(ledger)
    }
  })
}

/**
 * Registers the suite for every {@link Ledger}, with `describe` and `it` of vitest, jest or node:test.
 *
 * @example
 * ledgerConformance({ makeLedger: ({ clock }) => memoryLedger({ clock }), describe, it })
 */
export function ledgerConformance({
  makeLedger,
  name = 'a Ledger',
  describe,
  it,
  ...options
}: LedgerConformanceOptions & TestFunctions & { makeLedger: MakeLedger; name?: string }): void {
  register(name, ledgerCases(makeLedger, options), { describe, it })
}
