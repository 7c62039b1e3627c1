import { capability } from './capability.ts'
import type { EventLog } from './event-log.ts'
import type { KeyValue } from './key-value.ts'
import type { Ledger } from './ledger.ts'
import type { SessionStore } from './session-store.ts'
import type { Writer } from './writer.ts'

/** What a store keeps beside sessions; each part is for those layers that were given none of their own. */
export interface AgentStore {
  readonly sessions: SessionStore
  /** Money, for budgets; and rates, where there are no `limits`. */
  readonly ledger?: Ledger | undefined
  /** Answers and results, for caches. */
  readonly keyValue?: KeyValue | undefined
  /** What placeholders stand for. */
  readonly vault?: Vault | undefined
  /** Events of runs, for readers who come and go. */
  readonly events?: EventLog | undefined
  /** Where an audit goes: a chain for each tenant. */
  readonly audit?: { chainOf(tenant: string): object } | undefined
  /** Makes what counts a rate. */
  readonly limits?: MakeRateCounter | undefined
}

/** Keeps what placeholders stand for, by session. */
export interface Vault {
  /** The values by placeholder, and under `numbers` which of these were numbers. The key carries layer, tenant, owner and session. */
  load(key: string): VaultValues | undefined | Promise<VaultValues | undefined>
  /**
   * Replaces all values of the session.
   *
   * @param by whose run saves them
   * @throws AlliumError `store.fenced` when the session was erased after the run began, in stores that know
   */
  save(key: string, values: VaultValues, by?: Writer): void | Promise<void>
}
export type VaultValues = Readonly<Record<string, string>>

/** Counts what happens in a window; the limiters of rate-limiter-flexible do. */
export interface RateCounter {
  /** Rejects with `{ msBeforeNext }` where there is no room. */
  consume(key: string, points?: number): Promise<unknown>
  /** Gives points back. */
  reward(key: string, points?: number): Promise<unknown>
}
export type MakeRateCounter = (options: { keyPrefix: string; points: number; duration: number }) => RateCounter

/** The store of the agent, as `new Agent({ store })` of the umbrella provides it: `ctx.find(sharedStore)`. */
export const sharedStore = capability<AgentStore>('allium:store')
