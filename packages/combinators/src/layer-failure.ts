import { firstError, messageOf, type NextFor, type NextOptions, tellObservers } from '@allium/core'
import { endsRun } from './attempt.ts'
import type { AnyContext, WrappedHook } from './combine.ts'
import { copyOf } from './copy.ts'
import { isThenable } from './thenable.ts'

/** A layer failed, and a combinator took care of it. */
export interface LayerFailedEvent {
  type: 'layer:failed'
  layer: string
  scope: WrappedHook['scope']
  /** Whether the run went on without the layer, or was refused. */
  handled: 'open' | 'closed'
  error: unknown
}

declare module '@allium/core' {
  interface AgentEvents {
    'layer:failed': LayerFailedEvent
  }
}

/** What a layer's next() came to: what is inside has its own errors, and they are none of the layer. */
export class NextTracker {
  /** The next() that runs. */
  running: Promise<unknown> | undefined
  /** How the last one ended. */
  outcome: { readonly value: unknown } | { readonly error: unknown } | undefined
  readonly #errors = new Set<unknown>()

  /** @param copiesValue whether what next() gives is kept as it was, whatever the layer does to it */
  constructor(
    readonly innerNext: NextFor<unknown>,
    readonly copiesValue = false,
  ) {}

  readonly next = (options?: NextOptions): Promise<unknown> => {
    const running = this.innerNext(options)
    if (this.running !== undefined) return running // refused: one runs already
    this.running = running
    running.then(
      (value) => this.#settle({ value: this.copiesValue ? copyOf(value) : value }),
      (error) => {
        this.#errors.add(error)
        this.#settle({ error })
      },
    )
    return running
  }

  /** Whether an error is one of the inside, or was made of one. */
  isInnerError(error: unknown, depth = 0): boolean {
    if (this.#errors.has(error)) return true
    if (typeof error !== 'object' || error === null || depth > 16) return false
    const { cause, errors } = error as { cause?: unknown; errors?: unknown }
    if (cause !== undefined && this.isInnerError(cause, depth + 1)) return true
    return Array.isArray(errors) && errors.some((nested) => this.isInnerError(nested, depth + 1))
  }

  /** After a next() that failed, its error goes on, whatever the layer threw on top of it. */
  rethrowInner(error: unknown): void {
    if (this.outcome !== undefined && 'error' in this.outcome) throw firstError(this.outcome.error, error)
  }

  #settle(outcome: NextTracker['outcome']): void {
    this.running = undefined
    this.outcome = outcome
  }
}

/**
 * Runs a hook; where the layer itself throws, `recover` gives what its scope gets instead. What comes from inside, and what
 * ends the run, passes as it is.
 */
export function runGuarded(
  { run }: WrappedHook,
  ctx: AnyContext,
  tracker: NextTracker,
  recover: (error: unknown) => unknown,
): unknown {
  const onThrow = (error: unknown): unknown => {
    if (endsRun(ctx, error) || tracker.isInnerError(error)) throw error
    return recover(error)
  }
  try {
    const returned = run(ctx, tracker.next as NextFor<unknown>)
    return isThenable(returned) ? returned.then(undefined, onThrow) : returned
  } catch (error) {
    return onThrow(error)
  }
}

/** Tells observers and the logger; never the run. */
export function reportFailure(
  ctx: AnyContext,
  { layer, scope }: WrappedHook,
  handled: LayerFailedEvent['handled'],
  error: unknown,
): void {
  tellObservers(ctx, { type: 'layer:failed', layer, scope, handled, error } satisfies LayerFailedEvent)
  const consequence = handled === 'open' ? 'the run goes on without it' : 'so it refuses'
  ctx.logger.warn(`The layer "${layer}" failed in the ${scope} scope; ${consequence}: ${messageOf(error)}`, { error })
}
