import type { HookContexts, HookName } from '../contexts.ts'

/** What an entry receives in addition to its context. */
export interface EntryCall {
  readonly hook: HookName
  /** Aborts at the entry's timeout and when the run is cancelled. */
  readonly signal: AbortSignal
  /** Registers work that the run awaits before it completes. */
  defer(work: Promise<unknown>): void
  debug(message: string): void
  warn(message: string): void
}

/** A compiled entry of the config. */
export interface Entry<Name extends HookName = HookName> {
  /** Its name in messages, such as `beforeToolExecution[0] (./policy.sh)`. */
  readonly label: string
  readonly policy: boolean | undefined
  /** Milliseconds. */
  readonly timeout: number
  run(ctx: HookContexts[Name], call: EntryCall): unknown
}

/** The entries of each hook, in order. */
export type Hooks = { readonly [Name in HookName]?: readonly Entry<Name>[] }

/** The part of the config that layers read at the start of each turn; a reload replaces the hooks. */
export interface LiveConfig {
  hooks: Hooks
  readonly maxIterations: number
}
