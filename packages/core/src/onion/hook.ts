import type { Cancel } from './cancel.ts'
import type { Frame } from './next.ts'

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
  /** How many agents up the one is whose layer this is, where a sub-agent inherited it. */
  readonly up?: number
}

export interface NextOptions {
  /** Narrows `ctx.signal` for everything inside; when it aborts, `next()` rejects at once. */
  signal?: AbortSignal
}
type Next = (options?: NextOptions) => Promise<unknown>

/** What ends every layer, however it is swallowed: an abort, a block, a failure that sticks. */
export interface Ending {
  readonly error: unknown
}

/**
 * One way through the onion of one scope: from the outermost layer to the core and back. The rules of next() are in
 * frame.ts; a scope says here what is its own: its context, its core, and what a layer's return value means.
 */
export abstract class Passage {
  /** Some attempt was left behind, so that liveness has to be looked up. */
  left = false
  /** The record whose scope this is, where that is not the passage itself. */
  readonly home: object = this
  /** Whether next() may be called again after it rejected. */
  readonly reentrant: boolean = false

  constructor(
    readonly scope: ScopeName,
    readonly hooks: readonly Hook[],
    /** The innermost place of cancellation now. */
    public cancel: Cancel,
  ) {}

  /** The context of one layer. */
  abstract view(frame: Frame): object
  /** What the innermost next() runs. */
  abstract core(): unknown
  /** Turns what a layer returned into the result of its scope, or throws. */
  abstract leaving(frame: Frame, value: unknown): unknown

  /** What ends all layers now, if anything. */
  ending(): Ending | undefined {
    return undefined
  }
  /** The result that sticks (a deny, a skip), which next() gives at once. */
  decided(_frame: Frame): unknown {
    return undefined
  }
  /** Before a layer's first next(). */
  entering(_frame: Frame): void {}
  /** Before a further next() of the same layer. */
  reentering(_frame: Frame): void {}
  /** Gives what next() resolves with, once the layer inside has returned `value`. */
  arrived(_frame: Frame, value: unknown): unknown {
    return value
  }
  /** After a layer's next() rejected. */
  missed(_frame: Frame): void {}
  /** Closes what still runs inside a call that was left. */
  close(_frame: Frame): void {}
}
