import type { HookContexts, HookName } from '../contexts.ts'

/** What an entry gets besides its context. */
export interface EntryCall {
  readonly hook: HookName
  /** Aborts at the entry's timeout, and when the run is cancelled. */
  readonly signal: AbortSignal
  /** Work that the run's completion awaits. */
  defer(work: Promise<unknown>): void
  debug(message: string): void
  warn(message: string): void
}

/** One entry of the config, ready to run. */
export interface Entry<Name extends HookName = HookName> {
  /** As messages name it, such as `beforeToolExecution[0] (./policy.sh)`. */
  readonly label: string
  readonly policy: boolean | undefined
  /** Milliseconds. */
  readonly timeout: number
  run(ctx: HookContexts[Name], call: EntryCall): unknown
}

/** The entries of each hook, in their order. */
export type Hooks = { readonly [Name in HookName]?: readonly Entry<Name>[] }

/** What the layers read at the start of each turn; a reload replaces the hooks. */
export interface LiveConfig {
  hooks: Hooks
  readonly maxIterations: number
}
