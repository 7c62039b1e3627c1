import { AlliumError, followSignal, isBlockError, messageOf, type TurnContext } from '@allium/core'

export interface FailureOptions {
  /** What happens where the guard itself fails or takes too long: the turn is blocked, or goes on unchecked. @default 'block' */
  onError?: 'block' | 'allow'
  /** Milliseconds that one check may take. @default 10_000 */
  timeout?: number
  /** What the user is told when the guard blocks. @default nothing */
  reply?: string
}

type Place = Pick<TurnContext, 'block' | 'clock' | 'logger' | 'signal'>

/** The parts of a guard that fails closed. */
export interface Failing {
  readonly name: string
  readonly onError: 'block' | 'allow'
  readonly timeout: number
  readonly reply: string | undefined
}

/** @throws AlliumError `layer.config` for a timeout that is no time */
export function failing(name: string, { onError = 'block', timeout = 10_000, reply }: FailureOptions): Failing {
  if (!(timeout > 0))
    throw new AlliumError('layer.config', `"${name}" needs a timeout above 0 ms, but ${timeout} was given.`)
  return { name, onError, timeout, reply }
}

/**
 * What a guard finds. Where it throws or takes too long the turn is blocked, or `undefined` given where the guard allows
 * that. An abort, and a block by the check itself, pass as they are.
 */
export async function decide<T>(
  ctx: Place,
  guard: Failing,
  check: (signal: AbortSignal) => T | PromiseLike<T>,
): Promise<T | undefined> {
  try {
    return await inTime(ctx, guard, check)
  } catch (error) {
    return failed(ctx, guard, error)
  }
}

/** Blocks, or gives nothing where the guard allows that. What ends the run is thrown as it is. */
export function failed(ctx: Place, { name, onError, reply }: Failing, error: unknown): undefined {
  if (ctx.signal.aborted || isBlockError(error)) throw error
  const then = onError === 'allow' ? 'the turn goes on unchecked' : 'the turn is blocked'
  ctx.logger.error(`"${name}" failed, so ${then}: ${messageOf(error)}`, { error })
  return onError === 'allow' ? undefined : ctx.block(`"${name}" could not check this.`, withReply(reply))
}

export function withReply(reply: string | undefined): { reply?: string } {
  return reply === undefined ? {} : { reply }
}

async function inTime<T>(
  { clock, signal }: Place,
  { name, timeout }: Pick<Failing, 'name' | 'timeout'>,
  check: (signal: AbortSignal) => T | PromiseLike<T>,
): Promise<T> {
  // A controller costs more than most checks: only a check that takes the signal gets one.
  const own = check.length === 0 ? undefined : new AbortController()
  const given = check(own?.signal as AbortSignal)
  if (!isThenable(given) || (await isDoneSoon(given))) return given
  let stop = () => {}
  let release = () => {}
  const late = new Promise<never>((_, reject) => {
    const end = (reason: unknown) => {
      own?.abort(reason)
      reject(reason)
    }
    const message = `"${name}" took longer than ${timeout} ms.`
    stop = clock.after(timeout, () => end(new AlliumError('layer.timeout', message, { details: { layer: name } })))
    release = followSignal(signal, end)
  })
  try {
    return await Promise.race([given, late])
  } finally {
    stop()
    release()
  }
}

/** Whether it settles within these turns of the microtask queue, in which neither time passes nor anybody aborts. */
async function isDoneSoon(given: PromiseLike<unknown>): Promise<boolean> {
  let done = false
  const settled = () => {
    done = true
  }
  given.then(settled, settled)
  for (let turns = 0; turns < 32 && !done; turns++) await undefined
  return done
}

function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as { then?: unknown } | undefined)?.then === 'function'
}
