import { checkOptions, type KeysOf, type KeyValue } from '@allium/core'
import { type ManualClock, manualClock } from '../../manual-clock.ts'
import { type ConformanceCase, register, type TestFunctions } from '../cases.ts'
import { checkSkips } from '../check-skips.ts'
import { type KeyValueBench, keyValueCaseList } from './key-value-cases.ts'

/** Makes an empty store of values for one case, whose values last by this clock. */
export type MakeKeyValue = (given: { clock: ManualClock }) => KeyValue | Promise<KeyValue>

export interface KeyValueConformanceOptions {
  /** Opens the same values once more, as another process does. @default the store itself */
  reopen?(values: KeyValue): KeyValue | Promise<KeyValue>
  /** Closes what a case has opened. */
  close?(values: KeyValue): unknown
  /** Milliseconds that a value of a case lasts. @default 1000 */
  ttl?: number | undefined
  /** How time passes for a store whose server tells it: a real sleep. @default moves the clock */
  wait?(ms: number): Promise<void>
  /** Cases that cannot hold, each with its reason. */
  skip?: Readonly<Record<string, string>> | undefined
}

const known: KeysOf<KeyValueConformanceOptions> = { reopen: true, close: true, ttl: true, wait: true, skip: true }

/** What every {@link KeyValue} has to do, as cases. {@link keyValueConformance} registers them. @throws TypeError where `skip` names no case */
export function keyValueCases(makeKeyValue: MakeKeyValue, options: KeyValueConformanceOptions = {}): ConformanceCase[] {
  checkOptions(options, known, 'keyValueCases()', 'options.invalid')
  const { skip = {} } = options
  checkSkips(skip, Object.keys(keyValueCaseList))
  return Object.entries(keyValueCaseList).map(([name, run]) => ({
    name,
    run: () => withBench(makeKeyValue, options, run),
    ...(skip[name] !== undefined && { skip: skip[name] }),
  }))
}

/**
 * Registers the suite that every {@link KeyValue} passes, with `describe` and `it` of vitest, jest or node:test.
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
  { reopen, close, ttl = 1000, wait }: KeyValueConformanceOptions,
  run: (bench: KeyValueBench) => Promise<void>,
): Promise<void> {
  const clock = manualClock()
  const values = await makeKeyValue({ clock })
  const other = (await reopen?.(values)) ?? values
  try {
    await run({ values, other, ttl, wait: wait ?? ((ms) => clock.advance(ms)) })
  } finally {
    if (other !== values) await close?.(other)
    await close?.(values)
  }
}
