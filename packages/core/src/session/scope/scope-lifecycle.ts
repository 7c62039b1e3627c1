import { isAlliumError } from '../../errors/allium-error.ts'
import { rejectAll } from '../../onion/abandon.ts'
import { type Attempt, type Call, type Ending, isOpen, type Ring, State } from '../../onion/attempt.ts'
import { Cancel } from '../../onion/cancel.ts'
import type { Hook } from '../../onion/hook.ts'
import { layerError } from '../../onion/misuse.ts'
import { enter } from '../../onion/next.ts'
import { outcomeOf, succeed } from '../../onion/outcome.ts'

type Open<A extends Attempt, H> = Ring<A, ScopeLifecycle<A, H>>['create']

/** The onion of a scope that stays open. Its layers run up to next() at open(), and continue at close(). */
export class ScopeLifecycle<A extends Attempt = Attempt, H = object> implements Call {
  readonly ring: Ring<A, this>
  readonly outer = undefined
  end: Ending | undefined
  attempts = 1
  #core: Attempt | undefined
  #entered: (() => void) | undefined
  #whole: Promise<unknown> | undefined

  constructor(
    scope: 'agent' | 'session',
    readonly hooks: readonly Hook[],
    /** The record of the scope. */
    readonly home: H,
    open: Open<A, H>,
    /** Reports errors of layers after their opening was abandoned. */
    readonly report: (error: unknown) => void,
  ) {
    this.ring = lifecycleRing(scope, open, (core) => {
      this.#core = core
      this.#entered?.()
    })
  }

  /**
   * Resolves when every layer has called next(). Rejects when a layer throws before, after the opened layers have
   * unwound.
   * If `cancel` is aborted first, it rejects at once. Every next() rejects, also one that a layer calls later, so that
   * everything that was opened is closed.
   */
  async open(cancel: Cancel): Promise<void> {
    if (cancel.aborted) throw cancel.reason
    if (this.hooks.length === 0) return
    const entered = new Promise<void>((resolve) => (this.#entered = resolve))
    const root = this.ring.create(this, undefined, 1, new Cancel())
    enter(root)
    this.#whole = (async () => outcomeOf(root))()
    const leave = (error: unknown) => {
      this.end = { error }
      rejectAll(root, error)
    }
    cancel.on(leave)
    try {
      await Promise.race([entered, this.#whole])
    } finally {
      cancel.off(leave)
    }
    if (!isOpen(root) || this.#core?.$state === State.abandoned) await this.#whole
  }

  /** Runs the rest of every layer. Rejects with the first error. */
  async close(): Promise<void> {
    if (this.#core !== undefined) succeed(this.#core, undefined)
    await this.#whole
  }

  settled(): void {}
  abandoned(): void {}
  returned(_: Attempt, thrown: unknown): void {
    // A late verb was rejected. That is not an error of the work that the layer waited for.
    if (thrown !== this.end?.error && !isAlliumError(thrown, 'layer.abandoned')) this.report(thrown)
  }
  late(): void {}
}

/**
 * The ring of the agent or session scope. It is entered once, its core lasts until the scope is closed, and its layers
 * have no result.
 */
function lifecycleRing<A extends Attempt, H>(
  scope: 'agent' | 'session',
  open: Open<A, H>,
  entered: (core: A) => void,
): Ring<A, ScopeLifecycle<A, H>> {
  let reached = false
  return {
    scope,
    reentrant: false,
    create: open,
    run(attempt) {
      reached = true
      entered(attempt)
    },
    toResult(attempt) {
      const { $inner: inner } = attempt
      if (inner === undefined) {
        const fix = `Write "await next()": the ${scope} lives inside it.`
        throw layerError(attempt, 'layer.no_next', `returned without calling next(). ${fix}`)
      }
      if (inner.$state === State.failed && !reached) throw inner.$outcome
    },
  }
}
