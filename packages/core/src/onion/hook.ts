import type { CallSite } from '../errors/call-site.ts'

export type ScopeName = 'agent' | 'session' | 'turn' | 'model' | 'tool'
/** The hooks of an agent's layers, by scope, outermost first. */
export type Onion = Readonly<Record<ScopeName, readonly Hook[]>>

/** One layer's hook in one scope, as compiled. */
export interface Hook {
  /** The layer's name. */
  readonly name: string
  readonly run: (ctx: never, next: Next) => unknown
  readonly config: unknown
  /** Whether it may call next() again after next() succeeded. */
  readonly reenters: boolean
  /** Sub-agents run it too. */
  readonly inherit?: boolean
  readonly innermost?: boolean
  /** Where the layer was given to `use()`. */
  readonly callSite?: CallSite | undefined
  /** Of a turn hook: it watches, counts or limits, and lets every input pass as it is. */
  readonly observesOnly?: boolean
  /** Of which tools it must see every call. */
  readonly guards?: ((tool: string) => boolean) | undefined
  /** Why an agent may not have a tool, if it may not; of a tool, which this folder knows nothing of. */
  admits?(tool: object): string | undefined
  /** How many agents up the one is whose layer this is, where a sub-agent inherited it. */
  readonly levelsUp?: number
}

export interface NextOptions {
  /** Narrows `ctx.signal` for everything inside; when it aborts, `next()` rejects at once. */
  signal?: AbortSignal | undefined
}
export type Next = (options?: NextOptions) => Promise<unknown>
