import { firstError, isStackOverflow } from '../errors/first-error.ts'
import { checkOptions, type KeysOf } from '../errors/known-options.ts'
import { isThenable, quiet, rejected, watch } from '../errors/thenable.ts'
import { abandon, reject } from './abandon.ts'
import { type Attempt, isLate, isOpen, State } from './attempt.ts'
import type { Cancel } from './cancel.ts'
import type { NextOptions } from './hook.ts'
import { abandonedError, floating, misuse } from './misuse.ts'
import { fail, promiseOf, succeed } from './outcome.ts'

/** Runs the layer of an attempt, or the core. */
export function enter(attempt: Attempt): void {
  const { $hook: hook } = attempt
  try {
    if (hook === undefined) return attempt.$call.ring.run(attempt)
    const returned = hook.run(attempt as never, (options) => next(attempt, options))
    if (!isThenable(returned)) return exited(attempt, returned)
    watch(
      returned,
      (value) => exited(attempt, value),
      (error) => threw(attempt, error),
    )
  } catch (error) {
    if (hook === undefined) fail(attempt, error)
    else threw(attempt, error)
    if (isStackOverflow(error)) throw error
  }
}

const ofNext: KeysOf<NextOptions> = { signal: true }

/** The implementation of next(): checks the rules, then opens the next attempt. */
function next(attempt: Attempt, options: NextOptions | undefined): Promise<unknown> {
  const { $call: call, $inner: before } = attempt
  if (attempt.$exited || (before !== undefined && isOpen(before))) return rejected(misuse(attempt))
  if (call.end !== undefined) return rejected(call.end.error)
  if (isLate(attempt)) {
    call.late(attempt, 'next')
    return rejected(abandonedError(attempt))
  }
  const result = call.ring.shortCircuit?.(attempt)
  if (result !== undefined) return Promise.resolve(result)
  if (before !== undefined && !mayReenter(attempt, before)) return rejected(misuse(attempt))
  checkOptions(options, ofNext, 'next()', 'layer.invalid')
  const signal = options?.signal
  if (signal?.aborted === true) return rejected(signal.reason)
  let number = attempt.$number
  if (before !== undefined) {
    const refusal = call.ring.mayRetry?.(attempt)
    if (refusal !== undefined) return rejected(refusal)
    number = ++call.attempts
  }
  const ready = call.ring.admit?.(attempt)
  if (ready !== undefined) return quiet(openWhen(ready, attempt, number, signal))
  return signal === undefined ? open(attempt, number, attempt.$cancel) : narrowed(attempt, number, signal)
}

/** Opens the attempt once the input has passed through the layer. */
async function openWhen(
  ready: Promise<void>,
  attempt: Attempt,
  number: number,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  await ready
  const { $call: call, $inner: inner } = attempt
  if (call.end !== undefined) throw call.end.error
  if (isLate(attempt)) throw abandonedError(attempt)
  if (attempt.$exited || inner !== undefined) throw misuse(attempt)
  if (signal?.aborted === true) throw signal.reason
  return signal === undefined ? open(attempt, number, attempt.$cancel) : narrowed(attempt, number, signal)
}

function mayReenter({ $call, $hook }: Attempt, { $state }: Attempt): boolean {
  return $call.ring.reentrant && ($state !== State.done || $hook?.reenters === true)
}

function open(caller: Attempt, number: number, cancel: Cancel): Promise<unknown> {
  const { $call: call } = caller
  const inner = call.ring.create(call, caller, number, cancel)
  caller.$inner = inner
  call.ring.enter?.(caller, inner)
  enter(inner)
  if (inner.$state === State.done) return Promise.resolve(inner.$outcome)
  return isOpen(inner) ? promiseOf(inner) : rejected(inner.$outcome)
}

/**
 * The implementation of next({ signal }): opens the attempt in a nested cancellation scope, and abandons it when the
 * signal aborts.
 */
function narrowed(caller: Attempt, number: number, signal: AbortSignal): Promise<unknown> {
  const cancel = caller.$cancel.narrow()
  const { $inner: before } = caller
  let opened: Attempt | undefined
  const fired = () => {
    const inner = opened ?? (caller.$inner === before ? undefined : caller.$inner)
    if (inner !== undefined && isOpen(inner)) abandon(inner, signal.reason)
  }
  const release = () => {
    signal.removeEventListener('abort', fired)
    // Code that holds the nested signal still has to see the run's abort.
    if (!cancel.isObserved) cancel.release()
  }
  signal.addEventListener('abort', fired, { once: true })
  const promise = open(caller, number, cancel)
  opened = caller.$inner === before ? undefined : caller.$inner
  if (opened !== undefined && isOpen(opened)) opened.$release = release
  else release()
  return promise
}

/** A layer returned. Its value counts if its next() has settled. Otherwise it gets a floating-next error. */
function exited(attempt: Attempt, value: unknown): void {
  attempt.$exited = true
  const { $call: call, $inner: inner } = attempt
  if (attempt.$state === State.abandoned) return unwound(attempt, attempt.$outcome)
  if (inner !== undefined && isOpen(inner)) {
    const error = floating(attempt)
    abandon(inner, error)
    return fail(attempt, call.end === undefined ? error : call.end.error)
  }
  if (call.end !== undefined) return fail(attempt, call.end.error)
  let result: unknown
  try {
    result = call.ring.toResult(attempt, value)
  } catch (error) {
    return fail(attempt, error)
  }
  if (!isThenable(result)) return succeed(attempt, result)
  attempt.$state = State.flushing
  result.then(
    (awaited) => succeed(attempt, awaited),
    (error) => fail(attempt, error),
  )
}

/** A layer threw. The error propagates as it is, unless the run has ended or it would hide the first error. */
function threw(attempt: Attempt, error: unknown): void {
  attempt.$exited = true
  const { $call: call, $inner: inner } = attempt
  if (inner !== undefined && isOpen(inner)) abandon(inner, error)
  if (attempt.$state === State.abandoned) return unwound(attempt, firstError(attempt.$outcome, error), error)
  if (call.end !== undefined) return fail(attempt, call.end.error)
  fail(attempt, inner === undefined || inner.$state === State.done ? error : firstError(inner.$outcome, error))
}

/** A layer of an abandoned attempt has returned. Its caller gets the reason for the abandonment. */
function unwound(attempt: Attempt, error: unknown, thrown = error): void {
  reject(attempt, error)
  attempt.$call.returned(attempt, thrown)
}
