import { defineMiddleware, layerOptions, option, type TypedMiddleware } from '@allium/core'
import { backoff, isNonRetryable, isTransient, pause, retryAfter, statusOf } from '@allium/resilience'
import { trackOutput } from './track-output.ts'

export interface RetryOptions {
  /** Calls in all, the first included. @default 3 */
  attempts?: number | undefined
  /** Milliseconds before the second attempt; doubled for each further one. @default 250 */
  delay?: number | undefined
  /** The longest wait in milliseconds, also where the provider asks for more. @default 30_000 */
  maxDelay?: number | undefined
  /** The part of a wait that is left to chance, from 0 to 1, so that clients do not come back all at once. What a provider asks for is waited in full. @default 0.5 */
  jitter?: number | undefined
  /** Which errors are worth another attempt. A block or an abort never is. @default isTransient */
  when?(error: unknown): boolean
  /** When text has gone out already: take it back with a `model:reset` event and try again, or fail. @default 'reset' */
  midStream?: 'reset' | 'fail' | undefined
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
  midStream: option.oneOf('reset', 'fail'),
  random: option.fn,
})

/**
 * Repeats a model call that failed for a passing reason: overload, a rate limit, a cut connection.
 *
 * Put it outside layers that must see every attempt, such as usage counting, and inside those that check the answer
 * once. It waits as the provider's Retry-After says, else longer each time; after the last attempt the error goes on
 * as it is. Each wait is told as a `model:retry` event.
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
    midStream = 'reset',
    random = Math.random,
    as = 'model:retry',
  } = readOptions(options)
  const backoffOptions = { delay, maxDelay, jitter, random }
  const delayOf = (error: unknown, attempt: number, now: number) =>
    Math.min(retryAfter(error, now) ?? backoff(attempt, backoffOptions), maxDelay)
  return defineMiddleware({
    name: as,
    order: { is: ['retries'] },
    async model(ctx, next) {
      const hasStreamed = midStream === 'fail' ? trackOutput(ctx) : () => false
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

/** An attempt failed and another follows after `delay` milliseconds. */
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
