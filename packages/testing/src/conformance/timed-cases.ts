import { checkOptions } from '@allium/core/internal'
import { type ManualClock, manualClock } from '../manual-clock.ts'
import { type ConformanceCase, casesOf } from './cases.ts'

/** The options of a suite whose cases open a store twice and let time pass. */
interface TimedOptions<Parts> {
  reopen?(parts: Parts, given: { clock: ManualClock }): Parts | Promise<Parts>
  close?(parts: Parts): unknown
  lease?: number | undefined
  sleep?(ms: number): Promise<void>
  skip?: Readonly<Record<string, string>> | undefined
}

/** What a case gets besides the parts of its store. */
interface Timed<Parts> {
  /** The same data as another process sees it. */
  other: Parts
  lease: number
  wait(ms: number): Promise<void>
}

const known = { reopen: true, close: true, lease: true, sleep: true, skip: true } as const

/** Returns the cases of such a suite. @param caller its function, for messages @throws TypeError when `skip` names no case */
export function timedCases<Parts extends object>(
  caller: string,
  cases: Readonly<Record<string, (bench: Parts & Timed<Parts>) => Promise<void>>>,
  makeStore: (given: { clock: ManualClock }) => Parts | Promise<Parts>,
  options: TimedOptions<Parts>,
): ConformanceCase[] {
  checkOptions(options, known, caller, 'options.invalid')
  const { reopen, close, lease = 1000, sleep, skip = {} } = options
  return casesOf(cases, skip, async (run) => {
    const clock = manualClock()
    const parts = await makeStore({ clock })
    const other = (await reopen?.(parts, { clock })) ?? parts
    try {
      await run({ ...parts, other, lease, wait: sleep ?? ((ms) => clock.advance(ms)) })
    } finally {
      if (other !== parts) await close?.(other)
      await close?.(parts)
    }
  })
}
