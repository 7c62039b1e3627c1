import { capability, type Writer } from '@allium/core'
import type { EventLog } from './event-log.ts'
import type { FeedbackStore } from './feedback-store.ts'
import type { KeyValue } from './key-value.ts'
import type { Ledger } from './ledger.ts'
import type { PassageStore } from './passage-store.ts'
import type { RecordingStore } from './recording-store.ts'
import type { RolloutStore } from './rollout-store.ts'
import type { SessionStore } from './session-store.ts'

/** The parts of a store. A layer without a store of its own uses the part that it needs. */
export interface AgentStore {
  readonly sessions: SessionStore
  /** Accounts of budgets. Also counts rates if there are no `limits`. */
  readonly ledger?: Ledger | undefined
  /** Cached answers and results. */
  readonly keyValue?: KeyValue | undefined
  /** The original values of placeholders. */
  readonly vault?: Vault | undefined
  /** The events of runs, for readers that disconnect and come back. */
  readonly events?: EventLog | undefined
  /** Recorded turns, for replays. */
  readonly recordings?: RecordingStore | undefined
  /** Counts of rollouts, for a canary with a verdict. */
  readonly rollouts?: RolloutStore | undefined
  /** The feedback of people on runs. */
  readonly feedback?: FeedbackStore | undefined
  /** Finds messages of conversations by their words. */
  readonly passages?: PassageStore | undefined
  /** The target of an audit log: one chain for each tenant. */
  readonly audit?: { chainOf(tenant: string): object } | undefined
  /** Makes rate counters. */
  readonly limits?: MakeRateCounter | undefined
}

/** Stores the original values of placeholders, by session. */
export interface Vault {
  /** Returns the values by placeholder. `numbers` lists which of them were numbers. The key holds layer, tenant, owner and session. */
  load(key: string): VaultValues | undefined | Promise<VaultValues | undefined>
  /**
   * Replaces all values of the session.
   *
   * @param by the owner of the run that saves them
   * @throws AlliumError `store.fenced` if the session was erased after the run began, in stores that detect it
   */
  save(key: string, values: VaultValues, by?: Writer): void | Promise<void>
}
export type VaultValues = Readonly<Record<string, string>>

/** Counts events in a time window. The limiters of rate-limiter-flexible implement it. */
export interface RateCounter {
  /** Rejects with `{ msBeforeNext }` when the limit is reached. */
  consume(key: string, points?: number): Promise<unknown>
  /** Returns points to the limit. */
  reward(key: string, points?: number): Promise<unknown>
}
export type MakeRateCounter = (options: { keyPrefix: string; points: number; duration: number }) => RateCounter

/** The agent's store, from `new Agent({ store })` of the `allium` package: `ctx.find(sharedStore)`. */
export const sharedStore = capability<AgentStore>('allium:store')
