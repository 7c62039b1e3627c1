import { defineMiddleware, layerOptions, option, type ToolResult, type TypedMiddleware } from '@allium/core'
import { backoff, isNonRetryable, isTransient, pause, retryAfter, statusOf } from '@allium/shared/resilience'

export interface RetryOptions {
  /** The tools that may run again, by name: those that only read or are idempotent. */
  tools: readonly string[]
  /** The number of calls, including the first. @default 3 */
  attempts?: number | undefined
  /** The delay before the second attempt in milliseconds; it doubles for each further attempt. @default 250 */
  delay?: number | undefined
  /** The longest delay in milliseconds, even if Retry-After asks for more. @default 30_000 */
  maxDelay?: number | undefined
  /** The random share of a delay, from 0 to 1. A delay from Retry-After is not shortened. @default 0.5 */
  jitter?: number | undefined
  /**
   * Which failures are retried: receives the error of the tool or a layer, and the error result, if there is one. A result that the
   * tool itself marked as an error has no error object.
   * @default isTransient of the error
   */
  when?(error: unknown, result: ToolResult | undefined): boolean
  /** @default Math.random */
  random?(): number
  /** The layer's name. @default 'tools:retry' */
  as?: string | undefined
}

/** A call failed and is repeated after `delay` milliseconds. */
export interface ToolsRetry {
  type: 'tools:retry'
  tool: string
  callId: string
  /** The attempt that failed, from 1. */
  attempt: number
  delay: number
  /** The HTTP status of the failure, if it had one. */
  status: number | undefined
}

const readOptions = layerOptions<RetryOptions>('tools:retry', {
  tools: option.required(option.some(option.text), 'the names of those that may run again'),
  attempts: option.number({ from: 1 }),
  delay: option.number({ from: 0 }),
  maxDelay: option.number({ from: 0 }),
  jitter: option.number({ from: 0, to: 1 }),
  when: option.fn,
  random: option.fn,
})

/**
 * Retries a tool call that failed for a transient reason: a timeout, a dropped connection, an overloaded server.
 *
 * It retries only the named tools, because a failed call may have had its effect. Name tools that are safe to repeat, or wrap the
 * effect in `ctx.once`, which runs once across all attempts. After the last attempt the model receives the error result. Denied,
 * blocked, aborted and pending calls are not retried. Each retry emits a `tools:retry` event.
 *
 * @throws AlliumError `layer.config` when no tools are named, or attempts is below 1
 * @example
 * agent.use(tools.retry({ tools: ['search', 'http_request'] }))
 */
export function retry(options: RetryOptions): TypedMiddleware<{}> {
  const {
    tools,
    attempts = 3,
    delay = 250,
    maxDelay = 30_000,
    jitter = 0.5,
    when = isTransient,
    random = Math.random,
    as = 'tools:retry',
  } = readOptions(options)
  const backoffOptions = { delay, maxDelay, jitter, random }

  return defineMiddleware({
    name: as,
    options: { tools, attempts, delay, maxDelay, jitter },
    order: { is: ['retries'] },
    reenters: true,
    async tool(ctx, next) {
      if (!tools.includes(ctx.tool.name)) return next()
      for (let attempt = 1; ; attempt++) {
        const { result, error } = await outcomeOf(next)
        const failed = result === undefined || result.status === 'error'
        const mayRetry = failed && attempt < attempts && !ctx.signal.aborted && !isNonRetryable(error)
        const delayOf = () => Math.min(retryAfter(error, ctx.clock.now()) ?? backoff(attempt, backoffOptions), maxDelay)
        const retryPause = mayRetry ? await pause(ctx, () => (when(error, result) ? delayOf() : undefined)) : undefined
        if (retryPause === undefined) {
          if (result === undefined) throw error
          return result
        }
        const { callId, tool } = ctx
        ctx.emit({
          type: 'tools:retry',
          tool: tool.name,
          callId,
          attempt,
          delay: retryPause.delay,
          status: statusOf(error),
        })
        await retryPause.wait()
      }
    },
  })
}

interface Outcome {
  readonly result: ToolResult | undefined
  /** The error that the tool threw, from its result, or the error that a layer threw. */
  readonly error: unknown
}

async function outcomeOf(next: () => Promise<ToolResult>): Promise<Outcome> {
  try {
    const result = await next()
    return { result, error: result.error }
  } catch (error) {
    return { result: undefined, error }
  }
}

declare module '@allium/core' {
  interface AgentEvents {
    'tools:retry': ToolsRetry
  }
}
