import { AlliumError, followSignal, isBlockError, messageOf, type TurnView } from '@allium/core'
import { isThenable } from '@allium/core/internal'
import type { FailurePolicy } from './failure-options.ts'
import { blockOptions } from './guard-codes.ts'

type CheckContext = Pick<TurnView, 'block' | 'clock' | 'logger' | 'signal'>

/** The arguments of a check: a signal that aborts when the check is abandoned. */
export interface CheckCall {
  /** Created on first access, because a controller costs more than most checks. */
  readonly signal: AbortSignal
}

/**
 * Runs a check. If it throws or takes too long, blocks the turn, or returns `undefined` if the guard allows that. An abort, and a
 * block by the check itself, pass through.
 */
export function runCheck<T>(
  ctx: CheckContext,
  guard: FailurePolicy,
  check: (call: CheckCall) => T | PromiseLike<T>,
): Promise<T | undefined> {
  return runLocalCheck(ctx, guard, () => withTimeout(ctx, guard, check))
}

/** Runs a guard's local check, which does not wait and so needs no timer or signal. */
export async function runLocalCheck<T>(
  ctx: CheckContext,
  guard: FailurePolicy,
  check: () => T | PromiseLike<T>,
): Promise<T | undefined> {
  try {
    return await check()
  } catch (error) {
    return handleFailure(ctx, guard, error)
  }
}

/** Returns a guard's runner, which uses a timeout only for remote checks. */
export function checkRunner<C>(guard: FailurePolicy, isRemote: (ctx: C) => boolean) {
  return <T>(ctx: C & CheckContext, check: () => T | PromiseLike<T>): Promise<T | undefined> =>
    (isRemote(ctx) ? runCheck : runLocalCheck)(ctx, guard, check)
}

/** Blocks the turn, or returns undefined if the guard allows that. Rethrows errors that end the run. */
export function handleFailure(ctx: CheckContext, { name, onError, reply }: FailurePolicy, error: unknown): undefined {
  if (ctx.signal.aborted || isBlockError(error)) throw error
  const consequence = onError === 'allow' ? 'the turn continues unchecked' : 'the turn is blocked'
  ctx.logger.error(`"${name}" failed, so ${consequence}: ${messageOf(error)}`, { error })
  return onError === 'allow'
    ? undefined
    : ctx.block(`"${name}" could not check this.`, blockOptions('guard.failed', { reply }))
}

/** Runs a check with the timeout of its guard. A check that does not wait needs no timer. */
export function withTimeout<T>(
  { clock, signal }: CheckContext,
  { name, timeout }: Pick<FailurePolicy, 'name' | 'timeout'>,
  check: (call: CheckCall) => T | PromiseLike<T>,
): T | Promise<T> {
  const call = new PendingCheck()
  const result = check(call)
  if (!isThenable(result)) return result
  return new Promise((resolve, reject) => {
    let unfollow = () => {}
    const onTimeout = () => {
      const message = `"${name}" took longer than ${timeout} ms.`
      abandon(new AlliumError('layer.timeout', message, { details: { layer: name } }))
    }
    const stopTimer = clock.after(timeout, onTimeout)
    const finish = (complete: () => void) => {
      stopTimer()
      unfollow()
      complete()
    }
    const abandon = (reason: unknown) => {
      finish(() => reject(reason))
      call.abandon(reason)
    }
    result.then(
      (value) => finish(() => resolve(value)),
      (error) => finish(() => reject(error)),
    )
    unfollow = followSignal(signal, abandon)
  })
}

class PendingCheck implements CheckCall {
  #controller: AbortController | undefined

  get signal(): AbortSignal {
    return this.#open().signal
  }

  abandon(reason: unknown): void {
    this.#open().abort(reason)
  }

  #open(): AbortController {
    this.#controller ??= new AbortController()
    return this.#controller
  }
}
