import { messageOf, type NextFor, type NextOptions } from '@allium/core'
import { firstError, isThenable, tellObservers } from '@allium/core/internal'
import { endsRun } from './attempt.ts'
import type { AnyContext, WrappedHook } from './combine.ts'
import { copyOf } from './copy.ts'

/** A layer failed, and a combinator handled the failure. */
export interface LayerFailedEvent {
  type: 'layer:failed'
  layer: string
  scope: WrappedHook['scope']
  /** Whether the run continued without the layer (`open`) or the call was refused (`closed`). */
  handled: 'open' | 'closed'
  error: unknown
}

declare module '@allium/core' {
  interface AgentEvents {
    'layer:failed': LayerFailedEvent
  }
}

/** Tracks a layer's next(). Errors from inside are not errors of the layer. */
export class NextTracker {
  /** The running next(). */
  running: Promise<unknown> | undefined
  /** The outcome of the last one. */
  outcome: { readonly value: unknown } | { readonly error: unknown } | undefined
  readonly #errors = new Set<unknown>()

  /** @param copiesValue whether to copy the result of next(), so that changes by the layer do not affect it */
  constructor(
    readonly innerNext: NextFor<unknown>,
    readonly copiesValue = false,
  ) {}

  readonly next = (options?: NextOptions): Promise<unknown> => {
    const running = this.innerNext(options)
    if (this.running !== undefined) return running // rejected, because one is running already
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

  /** Whether an error came from inside, or wraps one that did. */
  isInnerError(error: unknown, depth = 0): boolean {
    if (this.#errors.has(error)) return true
    if (typeof error !== 'object' || error === null || depth > 16) return false
    const { cause, errors } = error as { cause?: unknown; errors?: unknown }
    if (cause !== undefined && this.isInnerError(cause, depth + 1)) return true
    return Array.isArray(errors) && errors.some((nested) => this.isInnerError(nested, depth + 1))
  }

  /** If next() failed, rethrows its error, regardless of what the layer threw afterward. */
  rethrowInner(error: unknown): void {
    if (this.outcome !== undefined && 'error' in this.outcome) throw firstError(this.outcome.error, error)
  }

  #settle(outcome: NextTracker['outcome']): void {
    this.running = undefined
    this.outcome = outcome
  }
}

/**
 * Runs a hook. If the layer itself throws, `recover` returns the result instead. Errors from inside and errors that end the run pass
 * through.
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

/** Reports to observers and the logger, never to the run. */
export function reportFailure(
  ctx: AnyContext,
  { layer, scope }: WrappedHook,
  handled: LayerFailedEvent['handled'],
  error: unknown,
): void {
  tellObservers(ctx, { type: 'layer:failed', layer, scope, handled, error } satisfies LayerFailedEvent)
  const consequence = handled === 'open' ? 'the run continues without it' : 'so the call or turn is blocked'
  ctx.logger.warn(`The layer "${layer}" failed in the ${scope} scope; ${consequence}: ${messageOf(error)}`, { error })
}
