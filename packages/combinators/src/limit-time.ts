import { AlliumError, type NextOptions } from '@allium/core'
import { isThenable } from '@allium/core/internal'
import { type AnyHook, type Combinable, type Combined, combine, type WrappedHook } from './combine.ts'
import { describe } from './describe.ts'
import { revocable } from './revocable-context.ts'
import { rejected } from './thenable.ts'

/**
 * Limits the time that a layer itself takes, before and after its next() together; time inside next() does not count.
 *
 * Use it for layers that wait for their own work, such as a judge or a lookup. On timeout the layer fails with `layer.timeout`, which
 * ends the run unless a `failOpen` or `failClosed` around it handles it. Its `ctx.signal` aborts. Its later work is ignored: its context
 * throws, and its result and errors are dropped.
 *
 * @param ms milliseconds by the agent's clock, for each entry of each hook
 *
 * @example
 * agent.use(failOpen(limitTime(judge(), 2_000)))
 *
 * @throws AlliumError `layer.config` when `ms` is not above 0
 */
export function limitTime<M extends Combinable>(layer: M, ms: number): Combined<M> {
  if (typeof ms !== 'number' || !(ms > 0))
    throw new AlliumError('layer.config', `limitTime() takes milliseconds above 0, but ${describe(ms)} was given.`)
  return combine('limitTime', layer, (hook) => withTimeLimit(hook, ms))
}

/** Measures with a stopwatch that is paused while next() runs. */
function withTimeLimit(hook: WrappedHook, ms: number): AnyHook {
  return (ctx, next) => {
    const { clock } = ctx
    let [remaining, resumedAt, nextDepth, isDone] = [ms, clock.monotonic(), 0, false]
    let timeoutError: AlliumError | undefined
    let cancelTimer: (() => void) | undefined
    let onTimeout: ((error: AlliumError) => void) | undefined
    const revocableCtx = revocable(ctx, () => timeoutError)

    const returned = hook.run(revocableCtx.ctx, timedNext as typeof next)
    if (!isThenable(returned)) {
      isDone = true
      return returned
    }
    return new Promise((resolve, reject) => {
      onTimeout = (error) => {
        revocableCtx.revoke(error)
        reject(error)
      }
      const end = (settle: (outcome: unknown) => void) => (outcome: unknown) => {
        cancelTimer?.()
        isDone = true
        settle(outcome)
      }
      returned.then(end(resolve), end(reject))
      if (nextDepth === 0) startTimer()
    })

    function timedNext(options?: NextOptions): Promise<unknown> {
      if (timeoutError !== undefined) return rejected(timeoutError)
      if (nextDepth++ === 0) stopTimer()
      const onNextSettled = () => {
        if (--nextDepth === 0) startTimer()
      }
      const running = next(options)
      running.then(onNextSettled, onNextSettled)
      return running
    }

    function stopTimer(): void {
      cancelTimer?.()
      remaining -= clock.monotonic() - resumedAt
    }

    function startTimer(): void {
      if (isDone) return
      resumedAt = clock.monotonic()
      cancelTimer = clock.after(Math.max(remaining, 0), () => {
        timeoutError = timeLimitExceeded(hook, ms)
        onTimeout?.(timeoutError)
      })
    }
  }
}

function timeLimitExceeded({ layer, scope }: WrappedHook, ms: number): AlliumError {
  return new AlliumError(
    'layer.timeout',
    `Layer "${layer}" (${scope}) took more than ${ms} ms of its own time. Raise the limit, or put failOpen() or failClosed() around it.`,
    { details: { layer, scope, ms } },
  )
}
