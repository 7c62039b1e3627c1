import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { KeyValue } from '@allium/store'
import { type ManualClock, manualClock } from '../../manual-clock.ts'
import { type ConformanceCase, casesOf, register, type TestFunctions } from '../cases.ts'
import { type KeyValueBench, keyValueCaseList } from './key-value-cases.ts'

/** Creates an empty store for one case, whose values expire by this clock. */
export type MakeKeyValue = (given: { clock: ManualClock }) => KeyValue | Promise<KeyValue>

export interface KeyValueConformanceOptions {
  /** Opens the same values again, as another process would. @default the store itself */
  reopen?(values: KeyValue): KeyValue | Promise<KeyValue>
  /** Closes everything that a case has opened. */
  close?(values: KeyValue): unknown
  /** How long a value of a case lasts, in milliseconds. @default 1000 */
  ttl?: number | undefined
  /** Lets time pass, for a store that uses its server's clock: a real sleep. @default advances the clock */
  sleep?(ms: number): Promise<void>
  /** Cases that cannot hold, each with its reason. */
  skip?: Readonly<Record<string, string>> | undefined
}

const known: KeysOf<KeyValueConformanceOptions> = { reopen: true, close: true, ttl: true, sleep: true, skip: true }

/**
 * Returns the rules for every {@link KeyValue}, as cases. {@link keyValueConformance} registers them. @throws TypeError when `skip` names
 * no case
 */
export function keyValueCases(makeKeyValue: MakeKeyValue, options: KeyValueConformanceOptions = {}): ConformanceCase[] {
  checkOptions(options, known, 'keyValueCases()', 'options.invalid')
  const { skip = {} } = options
  return casesOf(keyValueCaseList, skip, (run) => withBench(makeKeyValue, options, run))
}

/**
 * Registers the suite for every {@link KeyValue}, with `describe` and `it` of vitest, jest or node:test.
 *
 * @example
 * keyValueConformance({ makeKeyValue: ({ clock }) => sqlite(':memory:', { clock }).keyValue, describe, it })
 */
export function keyValueConformance({
  makeKeyValue,
  name = 'a KeyValue',
  describe,
  it,
  ...options
}: KeyValueConformanceOptions & TestFunctions & { makeKeyValue: MakeKeyValue; name?: string }): void {
  register(name, keyValueCases(makeKeyValue, options), { describe, it })
}

async function withBench(
  makeKeyValue: MakeKeyValue,
  { reopen, close, ttl = 1000, sleep }: KeyValueConformanceOptions,
  run: (bench: KeyValueBench) => Promise<void>,
): Promise<void> {
  const clock = manualClock()
  const values = await makeKeyValue({ clock })
  const other = (await reopen?.(values)) ?? values
  try {
    await run({ values, other, ttl, wait: sleep ?? ((ms) => clock.advance(ms)) })
  } finally {
    if (other !== values) await close?.(other)
    await close?.(values)
  }
}
