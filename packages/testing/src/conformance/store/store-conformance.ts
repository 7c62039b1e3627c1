import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { SessionStore } from '@allium/store'
import { type ManualClock, manualClock } from '../../manual-clock.ts'
import { type ConformanceCase, casesOf, register, type TestFunctions } from '../cases.ts'
import { assignAgentCases } from './assign-agent-cases.ts'
import type { StoreBench } from './bench.ts'
import { blobCases } from './blob-cases.ts'
import { checkpointCases } from './checkpoint-cases.ts'
import { contentCases } from './content-cases.ts'
import { copyCases } from './copy-cases.ts'
import { eraseCases } from './erase-cases.ts'
import { findCases } from './find-cases.ts'
import { historyCases } from './history-cases.ts'
import { keyCases } from './key-cases.ts'
import { leaseCases } from './lease-cases.ts'
import { listCases } from './list-cases.ts'
import { outboxCases } from './outbox-cases.ts'
import { pendingCases } from './pending-cases.ts'
import { randomTenants } from './random-cases.ts'
import { repeatCases } from './repeat-cases.ts'
import { versionCases } from './version-cases.ts'

/** Creates an empty store for one case. Its leases use this clock, which the suite advances. */
export type MakeStore = (given: { clock: ManualClock }) => SessionStore | Promise<SessionStore>

export interface StoreConformanceOptions {
  /** Opens the store's data again, as another process would. @default the store itself */
  reopen?(store: SessionStore, given: { clock: ManualClock }): SessionStore | Promise<SessionStore>
  /** Closes everything that a case has opened: connections, files. */
  close?(store: SessionStore): unknown
  /** The duration of a lease, in milliseconds. @default 1000 */
  lease?: number | undefined
  /** Lets time pass, for a store that uses its server's clock: a real sleep, with a short `lease`. @default advances the clock */
  sleep?(ms: number): Promise<void>
  /** The seed of the random operations; the same seed gives the same operations. @default 1 */
  seed?: number | undefined
  /** Cases that cannot hold, each with its reason. */
  skip?: Readonly<Record<string, string>> | undefined
}

const known: KeysOf<StoreConformanceOptions> = {
  reopen: true,
  close: true,
  lease: true,
  sleep: true,
  seed: true,
  skip: true,
}

/**
 * Returns the rules for every {@link SessionStore}, as cases with a name and `run()`, for a runner without `describe` or to run
 * one of them. {@link storeConformance} registers them.
 *
 * @throws TypeError when `skip` names no case
 */
export function storeCases(makeStore: MakeStore, options: StoreConformanceOptions = {}): ConformanceCase[] {
  checkOptions(options, known, 'storeCases()', 'options.invalid')
  const { seed = 1, skip = {} } = options
  const cases = {
    ...contentCases,
    ...copyCases,
    ...blobCases,
    ...versionCases,
    ...leaseCases,
    ...checkpointCases,
    ...repeatCases,
    ...findCases,
    ...historyCases,
    ...keyCases,
    ...assignAgentCases,
    ...listCases,
    ...pendingCases,
    ...eraseCases,
    ...outboxCases,
    'holds for 50 tenants that do random things at once': (bench: StoreBench) => randomTenants(bench, seed),
  }
  return casesOf(cases, skip, (run) => withBench(makeStore, options, run))
}

/**
 * Registers the suite for every {@link SessionStore}, with `describe` and `it` of vitest, jest or node:test.
 *
 * @example
 * storeConformance({ makeStore: ({ clock }) => memoryStore({ clock }), describe, it })
 */
export function storeConformance({
  makeStore,
  name = 'a SessionStore',
  describe,
  it,
  ...options
}: StoreConformanceOptions & TestFunctions & { makeStore: MakeStore; name?: string }): void {
  register(name, storeCases(makeStore, options), { describe, it })
}

async function withBench(
  makeStore: MakeStore,
  { reopen, close, lease = 1000, sleep }: StoreConformanceOptions,
  run: (bench: StoreBench) => Promise<void>,
): Promise<void> {
  const clock = manualClock()
  const store = await makeStore({ clock })
  const other = (await reopen?.(store, { clock })) ?? store
  try {
    await run({ store, other, lease, wait: sleep ?? ((ms) => clock.advance(ms)) })
  } finally {
    if (other !== store) await close?.(other)
    await close?.(store)
  }
}
