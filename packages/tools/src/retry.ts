import { defineMiddleware, layerOptions, option, type ToolResult, type TypedMiddleware } from '@allium/core'
import { backoff, isNonRetryable, isTransient, pause, retryAfter, statusOf } from '@allium/resilience'

export interface RetryOptions {
  /** The tools that may run again, by name: those that only read, or that do the same once as twice. */
  tools: readonly string[]
  /** Calls in all, the first included. @default 3 */
  attempts?: number | undefined
  /** Milliseconds before the second attempt; doubled for each further one. @default 250 */
  delay?: number | undefined
  /** The longest wait in milliseconds, also where Retry-After asks for more. @default 30_000 */
  maxDelay?: number | undefined
  /** The part of a wait that is left to chance, from 0 to 1. What Retry-After asks for is waited in full. @default 0.5 */
  jitter?: number | undefined
  /**
   * Which failures are worth another attempt: what the tool, or a layer, threw, and the error result, if there is one. A
   * result that the tool itself marked as an error comes with no error.
   * @default isTransient of what was thrown
   */
  when?(error: unknown, result: ToolResult | undefined): boolean
  /** @default Math.random */
  random?(): number
  /** The layer's name. @default 'tools:retry' */
  as?: string | undefined
}

/** A call failed and is made again after `delay` milliseconds. */
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
 * Repeats a tool call that failed for a passing reason: a timeout, a cut connection, an overloaded server.
 *
 * Only the tools that it names, because a call that failed may have had its effect: name those that can run twice, or
 * wrap the effect in `ctx.once`, which runs once across all attempts. After the last attempt the model gets the error
 * result. What was denied, blocked or aborted is not repeated, nor what waits for a human. Each wait is told as a
 * `tools:retry` event.
 *
 * @throws AlliumError `layer.config` where no tools are named, or attempts is below 1
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
  /** What the tool threw, which stands in its result, or what a layer threw. */
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
