import { AlliumError, followSignal, isBlockError, messageOf, option, type TurnContext } from '@allium/core'
import { ending } from './ending.ts'

export interface FailureOptions {
  /** What happens where the guard itself fails or takes too long: the turn is blocked, or goes on unchecked. @default 'block' */
  onError?: 'block' | 'allow' | undefined
  /** Milliseconds that one check may take. @default 10_000 */
  timeout?: number | undefined
  /** What the user is told when the guard blocks. @default nothing */
  reply?: string | undefined
}

type Place = Pick<TurnContext, 'block' | 'clock' | 'logger' | 'signal'>

/** The parts of a guard that fails closed. */
export interface Failing {
  readonly name: string
  readonly onError: 'block' | 'allow'
  readonly timeout: number
  readonly reply: string | undefined
}

/** What every guard that fails closed takes. */
export const failureOptions = {
  onError: option.oneOf('block', 'allow'),
  timeout: option.number({ above: 0 }),
  reply: option.text,
}

export function failing(name: string, { onError = 'block', timeout = 10_000, reply }: FailureOptions): Failing {
  return { name, onError, timeout, reply }
}

/** What a check is given: a signal of its own, which aborts when nobody waits for it any more. */
export interface CheckCall {
  /** Made when it is read: a controller costs more than most checks. */
  readonly signal: AbortSignal
}

/**
 * What a guard finds. Where it throws or takes too long the turn is blocked, or `undefined` given where the guard allows
 * that. An abort, and a block by the check itself, pass as they are.
 */
export function decide<T>(
  ctx: Place,
  guard: Failing,
  check: (call: CheckCall) => T | PromiseLike<T>,
): Promise<T | undefined> {
  return work(ctx, guard, () => inTime(ctx, guard, check))
}

/** The same of a guard's own work, which waits for nobody: it needs no timer, and no signal. */
export async function work<T>(ctx: Place, guard: Failing, check: () => T | PromiseLike<T>): Promise<T | undefined> {
  try {
    return await check()
  } catch (error) {
    return failed(ctx, guard, error)
  }
}

/** The one or the other: what is elsewhere is waited for. */
export function waitingWhere<C>(isElsewhere: (ctx: C) => boolean) {
  return <T>(ctx: C & Place, guard: Failing, check: () => T | PromiseLike<T>): Promise<T | undefined> =>
    (isElsewhere(ctx) ? decide : work)(ctx, guard, check)
}

/** Blocks, or gives nothing where the guard allows that. What ends the run is thrown as it is. */
export function failed(ctx: Place, { name, onError, reply }: Failing, error: unknown): undefined {
  if (ctx.signal.aborted || isBlockError(error)) throw error
  const then = onError === 'allow' ? 'the turn goes on unchecked' : 'the turn is blocked'
  ctx.logger.error(`"${name}" failed, so ${then}: ${messageOf(error)}`, { error })
  return onError === 'allow'
    ? undefined
    : ctx.block(`"${name}" could not check this.`, ending('guard.failed', { reply }))
}

function inTime<T>(
  { clock, signal }: Place,
  { name, timeout }: Pick<Failing, 'name' | 'timeout'>,
  check: (call: CheckCall) => T | PromiseLike<T>,
): T | Promise<T> {
  const call = new Checking()
  const given = check(call)
  if (!isThenable(given)) return given
  return new Promise((resolve, reject) => {
    let release = () => {}
    const late = () => {
      const message = `"${name}" took longer than ${timeout} ms.`
      leave(new AlliumError('layer.timeout', message, { details: { layer: name } }))
    }
    const stop = clock.after(timeout, late)
    const settle = (how: () => void) => {
      stop()
      release()
      how()
    }
    const leave = (reason: unknown) => {
      settle(() => reject(reason))
      call.leave(reason)
    }
    given.then(
      (value) => settle(() => resolve(value)),
      (error) => settle(() => reject(error)),
    )
    release = followSignal(signal, leave)
  })
}

class Checking implements CheckCall {
  #controller: AbortController | undefined
  #left: { readonly reason: unknown } | undefined

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#left !== undefined) this.#controller.abort(this.#left.reason)
    }
    return this.#controller.signal
  }

  leave(reason: unknown): void {
    this.#left = { reason }
    this.#controller?.abort(reason)
  }
}

function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as { then?: unknown } | undefined)?.then === 'function'
}
