import type { NextOptions, ScopeName } from '@allium/core'

/** A hook of another layer, as a layer that wraps hooks gets it. */
export interface HookInfo {
  /** The layer's name; undefined for the core, which the innermost next() runs. */
  readonly layer: string | undefined
  readonly scope: ScopeName
  readonly run: HookRun
}

export type HookRun = (ctx: never, next: (options?: NextOptions) => Promise<unknown>) => unknown
