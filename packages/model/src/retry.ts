import { defineMiddleware, layerOptions, option, type TypedMiddleware } from '@allium/core'
import { backoff, isNonRetryable, isTransient, pause, retryAfter, statusOf } from '@allium/shared/resilience'
import { trackOutput } from './track-output.ts'

export interface RetryOptions {
  /** The number of calls, including the first. @default 3 */
  attempts?: number | undefined
  /** The delay before the second attempt in milliseconds; it doubles for each further attempt. @default 250 */
  delay?: number | undefined
  /** The longest delay in milliseconds, even if the provider asks for more. @default 30_000 */
  maxDelay?: number | undefined
  /**
   * The random share of a delay, from 0 to 1, so that clients do not retry simultaneously. A delay that the provider asks for is not
   * shortened. @default 0.5
   */
  jitter?: number | undefined
  /** Which errors are retried. A block or an abort never is. @default isTransient */
  when?(error: unknown): boolean
  /** What to do if text was already streamed: retract it with a `model:reset` event and retry, or fail. @default 'reset' */
  afterOutput?: 'reset' | 'fail' | undefined
  /** @default Math.random */
  random?(): number
  /** The layer's name. @default 'model:retry' */
  as?: string | undefined
}

const readOptions = layerOptions<RetryOptions>('model:retry', {
  attempts: option.number({ from: 1 }),
  delay: option.number({ from: 0 }),
  maxDelay: option.number({ from: 0 }),
  jitter: option.number({ from: 0, to: 1 }),
  when: option.fn,
  afterOutput: option.oneOf('reset', 'fail'),
  random: option.fn,
})

/**
 * Retries a model call that failed for a transient reason: overload, a rate limit, a dropped connection.
 *
 * Put it outside layers that must see every attempt, such as usage counting, and inside layers that check the answer once. It waits
 * for the provider's Retry-After, or else with exponential backoff. After the last attempt it throws the error unchanged. Each retry
 * emits a `model:retry` event.
 *
 * @example
 * agent.use(model.retry({ attempts: 5 }))
 */
export function retry(options: RetryOptions = {}): TypedMiddleware<{}> {
  const {
    attempts = 3,
    delay = 250,
    maxDelay = 30_000,
    jitter = 0.5,
    when = isTransient,
    afterOutput = 'reset',
    random = Math.random,
    as = 'model:retry',
  } = readOptions(options)
  const backoffOptions = { delay, maxDelay, jitter, random }
  const delayOf = (error: unknown, attempt: number, now: number) =>
    Math.min(retryAfter(error, now) ?? backoff(attempt, backoffOptions), maxDelay)
  return defineMiddleware({
    name: as,
    options: { attempts, delay, maxDelay, jitter, afterOutput },
    order: { is: ['retries'] },
    async model(ctx, next) {
      const hasStreamed = afterOutput === 'fail' ? trackOutput(ctx) : () => false
      for (let attempt = 1; ; attempt++) {
        try {
          return await next()
        } catch (error) {
          if (!(attempt < attempts) || hasStreamed() || ctx.signal.aborted || isNonRetryable(error)) throw error
          const retryPause = await pause(ctx, () =>
            when(error) ? delayOf(error, attempt, ctx.clock.now()) : undefined,
          )
          if (retryPause === undefined) throw error
          ctx.emit({ type: 'model:retry', attempt, delay: retryPause.delay, status: statusOf(error) })
          await retryPause.wait()
        }
      }
    },
  })
}

/** An attempt failed and the next one follows after `delay` milliseconds. */
export interface ModelRetry {
  type: 'model:retry'
  /** The attempt that failed, from 1. */
  attempt: number
  delay: number
  /** The HTTP status of the failure, if it had one. */
  status: number | undefined
}

declare module '@allium/core' {
  interface AgentEvents {
    'model:retry': ModelRetry
  }
}
