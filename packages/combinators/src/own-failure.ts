import { firstError, messageOf, type NextFor, type NextOptions, tellObservers } from '@allium/core'
import { isEnding } from './attempt.ts'
import type { AnyContext, HookPlace } from './combine.ts'
import { copyOf } from './copy.ts'
import { isThenable } from './thenable.ts'

/** A layer failed, and a combinator took care of it. */
export interface LayerFailed {
  type: 'layer:failed'
  layer: string
  scope: HookPlace['scope']
  /** Whether the run went on without the layer, or was refused. */
  handled: 'open' | 'closed'
  error: unknown
}

declare module '@allium/core' {
  interface AgentEvents {
    'layer:failed': LayerFailed
  }
}

/** What a layer's next() came to: what is inside has its own errors, and they are none of the layer. */
export class Inside {
  /** The next() that runs. */
  running: Promise<unknown> | undefined
  /** How the last one ended. */
  outcome: { readonly value: unknown } | { readonly error: unknown } | undefined
  readonly #errors = new Set<unknown>()

  /** @param keeps whether what next() gives is kept as it was, whatever the layer does to it */
  constructor(
    readonly given: NextFor<unknown>,
    readonly keeps = false,
  ) {}

  readonly next = (options?: NextOptions): Promise<unknown> => {
    const running = this.given(options)
    if (this.running !== undefined) return running // refused: one runs already
    this.running = running
    running.then(
      (value) => this.#settle({ value: this.keeps ? copyOf(value) : value }),
      (error) => {
        this.#errors.add(error)
        this.#settle({ error })
      },
    )
    return running
  }

  /** Whether an error is one of the inside, or was made of one. */
  threw(error: unknown, depth = 0): boolean {
    if (this.#errors.has(error)) return true
    if (typeof error !== 'object' || error === null || depth > 16) return false
    const { cause, errors } = error as { cause?: unknown; errors?: unknown }
    if (cause !== undefined && this.threw(cause, depth + 1)) return true
    return Array.isArray(errors) && errors.some((one) => this.threw(one, depth + 1))
  }

  /** After a next() that failed, its error goes on, whatever the layer threw on top of it. */
  throwOver(error: unknown): void {
    if (this.outcome !== undefined && 'error' in this.outcome) throw firstError(this.outcome.error, error)
  }

  #settle(outcome: Inside['outcome']): void {
    this.running = undefined
    this.outcome = outcome
  }
}

/**
 * Runs a hook; where the layer itself throws, `recover` gives what its scope gets instead. What comes from inside, and what
 * ends the run, passes as it is.
 */
export function runGuarded(
  { run }: HookPlace,
  ctx: AnyContext,
  inside: Inside,
  recover: (error: unknown) => unknown,
): unknown {
  const threw = (error: unknown): unknown => {
    if (isEnding(ctx, error) || inside.threw(error)) throw error
    return recover(error)
  }
  try {
    const returned = run(ctx, inside.next as NextFor<unknown>)
    return isThenable(returned) ? returned.then(undefined, threw) : returned
  } catch (error) {
    return threw(error)
  }
}

/** Tells observers and the logger; never the run. */
export function tellFailure(
  ctx: AnyContext,
  { layer, scope }: HookPlace,
  handled: LayerFailed['handled'],
  error: unknown,
): void {
  tellObservers(ctx, { type: 'layer:failed', layer, scope, handled, error } satisfies LayerFailed)
  const what = handled === 'open' ? 'the run goes on without it' : 'so it refuses'
  ctx.logger.warn(`The layer "${layer}" failed in the ${scope} scope; ${what}: ${messageOf(error)}`, { error })
}
