import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { EventLog } from '@allium/store'
import { type ManualClock, manualClock } from '../../manual-clock.ts'
import { type ConformanceCase, casesOf, register, type TestFunctions } from '../cases.ts'
import type { EventLogBench } from './bench.ts'
import { eventBlobCases } from './event-blob-cases.ts'
import { eventCases } from './event-cases.ts'
import { readerCases } from './reader-cases.ts'
import { signalCases } from './signal-cases.ts'

/** Creates an empty log for one case, which keeps ended runs for `eventRetention` milliseconds of this clock. */
export type MakeEventLog = (given: { clock: ManualClock; eventRetention: number }) => EventLog | Promise<EventLog>

export interface EventLogConformanceOptions {
  /** Opens the log's data again, as another process would. @default the log itself */
  reopen?(log: EventLog, given: { clock: ManualClock; eventRetention: number }): EventLog | Promise<EventLog>
  /** Closes everything that a case has opened. */
  close?(log: EventLog): unknown
  /** Retention of a run after its end, in milliseconds. @default 1000 */
  eventRetention?: number
  /** Lets time pass, for a log that uses its server's clock: a real sleep. @default advances the clock */
  sleep?(ms: number): Promise<void>
  /** Cases that cannot hold, each with its reason. */
  skip?: Readonly<Record<string, string>>
}

const cases = { ...eventCases, ...eventBlobCases, ...readerCases, ...signalCases }

const known: KeysOf<EventLogConformanceOptions> = {
  reopen: true,
  close: true,
  eventRetention: true,
  sleep: true,
  skip: true,
}

/**
 * Returns the rules for every {@link EventLog}, as cases. {@link eventLogConformance} registers them. @throws TypeError when `skip` names
 * no case
 */
export function eventLogCases(makeLog: MakeEventLog, options: EventLogConformanceOptions = {}): ConformanceCase[] {
  checkOptions(options, known, 'eventLogCases()', 'options.invalid')
  const { skip = {} } = options
  return casesOf(cases, skip, (run) => withBench(makeLog, options, run))
}

/**
 * Registers the suite for every {@link EventLog}, with `describe` and `it` of vitest, jest or node:test.
 *
 * @example
 * eventLogConformance({ makeLog: (given) => memoryEventLog(given), describe, it })
 */
export function eventLogConformance({
  makeLog,
  name = 'an EventLog',
  describe,
  it,
  ...options
}: EventLogConformanceOptions & TestFunctions & { makeLog: MakeEventLog; name?: string }): void {
  register(name, eventLogCases(makeLog, options), { describe, it })
}

async function withBench(
  makeLog: MakeEventLog,
  { reopen, close, eventRetention = 1000, sleep }: EventLogConformanceOptions,
  run: (bench: EventLogBench) => Promise<void>,
): Promise<void> {
  const given = { clock: manualClock(), eventRetention }
  const log = await makeLog(given)
  const other = (await reopen?.(log, given)) ?? log
  try {
    await run({ log, other, eventRetention, wait: sleep ?? ((ms) => given.clock.advance(ms)) })
  } finally {
    if (other !== log) await close?.(other)
    await close?.(log)
  }
}
