import {
  AlliumError,
  defineMiddleware,
  layerOptions,
  type ModelContext,
  option,
  type TypedMiddleware,
  tenantOf,
} from '@allium/core'
import { isReplaying } from '@allium/core/context'
import { isNonRetryable, isTransient } from '@allium/shared/resilience'
import { LRUCache } from 'lru-cache'
import type { BreakerState, Circuit, Threshold } from './circuit.ts'

export interface BreakerOptions {
  /** How many consecutive failures open the circuit; or `{ share: 0.5, of: 20 }`: more than that share of the last calls. @default 5 */
  threshold?: Threshold | undefined
  /** How long the circuit stays open before a trial call, in milliseconds. @default 30_000 */
  halfOpenAfter?: number | undefined
  /** Which errors count as failures of the model. A block or an abort never counts. @default isTransient */
  when?(error: unknown): boolean
  /**
   * What shares a model's circuit: all calls in this process, those of a tenant, or those for which a function returns the same text.
   * @default 'model'
   */
  per?: 'model' | 'tenant' | ((ctx: ModelContext) => string)
  /** The layer's name. @default 'model:breaker' */
  as?: string | undefined
}

const readOptions = layerOptions<BreakerOptions>('model:breaker', {
  threshold: option.either(
    option.whole(1),
    option.shape<Exclude<Threshold, number>>({
      share: option.required(option.number({ above: 0, below: 1 })),
      of: option.required(option.whole(1)),
    }),
  ),
  halfOpenAfter: option.number({ above: 0 }),
  when: option.fn,
  per: option.either(option.oneOf('model', 'tenant'), option.fn),
})

/**
 * Stops calling a model that keeps failing. Its calls fail immediately with `model.open` until a trial call succeeds.
 *
 * A circuit belongs to a model and is shared by all sessions in the process that use this layer, because an outage contains no
 * private data. Put it inside of `model.fallback` and `model.retry`: each attempt counts, an open circuit ends the attempts, and the
 * next model is called. Each state change emits a `model:breaker` event.
 *
 * @throws AlliumError `layer.config` for an invalid threshold or time
 * @example
 * agent.use(model.fallback({ models: ['openai/gpt-5-mini'] })).use(model.retry()).use(model.breaker())
 */
export function breaker(options: BreakerOptions = {}): TypedMiddleware<{}> {
  const {
    threshold = 5,
    halfOpenAfter = 30_000,
    when = isTransient,
    per = 'model',
    as = 'model:breaker',
  } = readOptions(options)
  const circuits = new LRUCache<string, Circuit>({ max: 1000 })

  return defineMiddleware({
    name: as,
    options: { threshold, halfOpenAfter, per },
    order: { is: ['breakers'], inside: ['retries', 'caches', 'routes'] },
    async model(ctx, next) {
      const { model, clock } = ctx
      const circuit = await circuitFor(ctx)
      // A replay takes the recorded path, even if the circuit of this process differs.
      const remaining = await ctx.once('wait', () => circuit.remainingOpenTime(clock.monotonic()), { per: 'attempt' })
      if (remaining > 0) throw openError(model, remaining)
      const settle = reportStateChange(() => circuit.admit(clock.monotonic()))
      try {
        const response = await next()
        reportStateChange(() => settle(isReplaying(ctx) ? 'neither' : 'success', clock.monotonic()))
        return response
      } catch (error) {
        // A call that an outer layer abandoned rejects with an AbortError; the signal has the real reason, such as a timeout.
        const cause: unknown = ctx.signal.aborted ? ctx.signal.reason : error
        // The outcome of a replayed call says nothing about the model's current state.
        const outcome = !isReplaying(ctx) && !isNonRetryable(cause) && when(cause) ? 'failure' : 'neither'
        reportStateChange(() => settle(outcome, clock.monotonic()))
        throw error
      }

      function reportStateChange<T>(apply: () => T): T {
        const previousState = circuit.state
        const options = apply()
        if (circuit.state !== previousState) ctx.emit({ type: 'model:breaker', model, state: circuit.state })
        return options
      }
    },
  })

  async function circuitFor(ctx: ModelContext): Promise<Circuit> {
    // Loaded with the first call, because loading cockatiel takes 40 ms.
    const { Circuit } = await import('./circuit.ts')
    const owner = typeof per === 'function' ? per(ctx) : per === 'tenant' ? (tenantOf(ctx.principal) ?? null) : ''
    const key = JSON.stringify([ctx.model, owner])
    let circuit = circuits.get(key)
    if (circuit === undefined) {
      circuit = new Circuit(threshold, halfOpenAfter)
      circuits.set(key, circuit)
    }
    return circuit
  }
}

/** Not retried by default, because an immediate retry cannot succeed. A layer that retries it anyway waits for the header's time. */
function openError(model: string, ms: number): AlliumError {
  const retryAfter = Math.ceil(ms)
  const error = new AlliumError(
    'model.open',
    `The model "${model}" failed repeatedly and is not called for another ${retryAfter} ms. Fall back to another model (model.fallback does), or try again then.`,
    { details: { model, retryAfter } },
  )
  return Object.assign(error, { isRetryable: false, retryAfter, headers: { 'retry-after-ms': String(retryAfter) } })
}

/** A model's circuit opened, allowed a trial call, or closed again. */
export interface ModelBreaker {
  type: 'model:breaker'
  model: string
  state: BreakerState
}

declare module '@allium/core' {
  interface AgentEvents {
    'model:breaker': ModelBreaker
  }
}
