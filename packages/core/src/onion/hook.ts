import type { CallSite } from '../errors/call-site.ts'

export type ScopeName = 'agent' | 'session' | 'turn' | 'model' | 'tool'
/** The hooks of an agent's layers by scope, outermost first. */
export type Onion = Readonly<Record<ScopeName, readonly Hook[]>> & {
  /** Wraps the hooks of a sub-agent. For layers with \`inherit\` and \`wrapHooks\`. */
  readonly wrapInner?: ((inner: Onion) => Onion) | undefined
}

/** The compiled hook of one layer in one scope. */
export interface Hook {
  readonly name: string
  readonly run: (ctx: never, next: Next) => unknown
  readonly config: unknown
  readonly options?: Readonly<Record<string, unknown>> | undefined
  /** Whether the layer may call next() again after next() succeeded. */
  readonly reenters: boolean
  /** Whether sub-agents run the hook too. */
  readonly inherit?: boolean
  readonly innermost?: boolean
  /** Whether it does nothing and stands for the core, for the layers that wrap hooks. */
  readonly isCore?: boolean
  /** Where the layer was passed to `use()`. */
  readonly callSite?: CallSite | undefined
  /** For a turn hook: it only watches, counts or limits, and does not change any input. */
  readonly observesOnly?: boolean
  /** Whether the layer stores sessions. */
  readonly stores?: boolean
  /** The tools whose calls the layer must always see. */
  readonly guards?: ((tool: string) => boolean) | undefined
  /** Returns why an agent may not have this tool, or undefined if it may. `object`, because this folder does not know tools. */
  admits?(tool: object): string | undefined
  /** For a layer that a sub-agent inherited: how many agents up its owner is. */
  readonly levelsUp?: number
}

export interface NextOptions {
  /** Narrows `ctx.signal` for everything inside. When it aborts, `next()` rejects at once. */
  signal?: AbortSignal | undefined
}
export type Next = (options?: NextOptions) => Promise<unknown>
