import { checkOptions, type KeysOf, type Ledger } from '@allium/core'
import { type ManualClock, manualClock } from '../../manual-clock.ts'
import { type ConformanceCase, register, type TestFunctions } from '../cases.ts'
import { checkSkips } from '../check-skips.ts'
import { ledgerCaseList } from './ledger-cases.ts'

/** Makes an empty ledger for one case. Its holds run by this clock, which the suite moves. */
export type MakeLedger = (given: { clock: ManualClock }) => Ledger | Promise<Ledger>

export interface LedgerConformanceOptions {
  /** Opens the same accounts once more, as another process does. @default the ledger itself */
  reopen?(ledger: Ledger): Ledger | Promise<Ledger>
  /** Closes what a case has opened. */
  close?(ledger: Ledger): unknown
  /** Milliseconds that a hold is given, where it is to be over. @default 1000 */
  ttl?: number | undefined
  /** How time passes for a ledger whose server tells it: a real sleep, with a short `ttl`. @default moves the clock */
  wait?(ms: number): Promise<void>
  /** Of the random posts; the same seed does the same. @default 1 */
  seed?: number | undefined
  /** Cases that cannot hold, each with its reason. */
  skip?: Readonly<Record<string, string>> | undefined
}

const known: KeysOf<LedgerConformanceOptions> = {
  reopen: true,
  close: true,
  ttl: true,
  wait: true,
  seed: true,
  skip: true,
}

/** What every {@link Ledger} has to do, as cases. {@link ledgerConformance} registers them. @throws TypeError where `skip` names no case */
export function ledgerCases(makeLedger: MakeLedger, options: LedgerConformanceOptions = {}): ConformanceCase[] {
  checkOptions(options, known, 'ledgerCases()', 'options.invalid')
  const { reopen, close, seed = 1, ttl = 1000, skip = {} } = options
  checkSkips(skip, Object.keys(ledgerCaseList))
  return Object.entries(ledgerCaseList).map(([name, run]) => ({
    name,
    ...(skip[name] !== undefined && { skip: skip[name] }),
    async run() {
      const clock = manualClock()
      const wait = options.wait ?? ((ms) => clock.advance(ms))
      const ledger = await makeLedger({ clock })
      const other = (await reopen?.(ledger)) ?? ledger
      try {
        await run({ ledger, other, seed, ttl, wait })
      } finally {
        if (other !== ledger) await close?.(other)
        await close?.(ledger)
      }
    },
  }))
}

/**
 * Registers the suite that every {@link Ledger} passes, with `describe` and `it` of vitest, jest or node:test.
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
