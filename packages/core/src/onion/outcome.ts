import { firstError } from '../errors/first-error.ts'
import { isThenable, watch } from '../errors/thenable.ts'
import { chainOf, isInCore, reject } from './abandon.ts'
import { type Attempt, isOpen, State } from './attempt.ts'

/** Returns the result of a call, or a promise of it. Throws or rejects with the error of its layers. */
export function outcomeOf(root: Attempt): unknown {
  if (root.$state === State.done) return root.$outcome
  if (isOpen(root)) return promiseOf(root)
  throw root.$outcome
}

/** The core or a layer has its result. Delivers it to the caller. */
export function succeed(attempt: Attempt, value: unknown): void {
  if (attempt.$state >= State.draining) return
  const { $caller: caller, $call } = attempt
  if (caller === undefined) return done(attempt, value)
  let given: unknown
  try {
    given = $call.ring.deliver === undefined ? value : $call.ring.deliver(caller, attempt, value)
  } catch (error) {
    return fail(attempt, error)
  }
  if (!isThenable(given)) return delivered(caller, attempt, given)
  attempt.$state = State.flushing
  given.then(
    (flushed) => delivered(caller, attempt, flushed),
    (error) => fail(attempt, error),
  )
}

/** The core or a layer has failed. Its pipes are drained first, unless the run has ended. */
export function fail(attempt: Attempt, error: unknown): void {
  if (attempt.$state >= State.draining) return
  attempt.$outcome = error
  attempt.$call.ring.rollback?.(attempt)
  const stage = attempt.$caller?.$stage
  if (attempt.$call.end !== undefined) {
    attempt.$exempt = true
    stage?.kill(error)
    attempt.$stage?.kill(error)
    return failed(attempt)
  }
  if (stage === undefined) return failed(attempt)
  const draining = stage.fail(error)
  if (draining === undefined) return failed(attempt)
  attempt.$state = State.draining
  draining.then(
    () => failed(attempt),
    (second) => {
      attempt.$outcome = firstError(error, second)
      failed(attempt)
    },
  )
}

/** Calls `then` when the core's promise resolves, unless the attempt is over by then. */
export function whenDone<T>(core: Attempt, promise: PromiseLike<T>, then: (value: T) => void): void {
  watch(
    promise,
    (value) => {
      if (!isOpen(core)) return
      try {
        then(value as T)
      } catch (error) {
        fail(core, error)
      }
    },
    (error) => fail(core, error),
  )
}

/**
 * Fails the innermost attempt after the run has ended, if the core is running in it. A layer that is running returns by
 * itself.
 */
export function failInside(root: Attempt, error: unknown): void {
  const deepest = chainOf(root).at(-1)
  if (deepest === undefined || !isInCore(deepest)) return
  if (deepest.$hook === undefined) deepest.$call.ring.cancel?.(deepest, error)
  deepest.$stage?.kill(error)
  deepest.$caller?.$stage?.kill(error)
  fail(deepest, error)
  failed(deepest)
}

function delivered(caller: Attempt, attempt: Attempt, value: unknown): void {
  if (attempt.$state >= State.draining) return
  attempt.$call.ring.commit?.(caller, attempt)
  done(attempt, value)
}

function done(attempt: Attempt, value: unknown): void {
  attempt.$state = State.done
  attempt.$outcome = value
  attempt.$release?.()
  if (attempt.$caller === undefined) attempt.$call.settled(attempt)
  attempt.$resolve?.(value)
}

function failed(attempt: Attempt): void {
  if (attempt.$state > State.draining) return
  attempt.$state = State.failed
  attempt.$release?.()
  reject(attempt, attempt.$outcome)
}

/** Returns the promise of next() while the attempt is open. */
export function promiseOf(attempt: Attempt): Promise<unknown> {
  promised = attempt
  attempt.$promise = new Promise(executor)
  promised = undefined
  return attempt.$promise
}

/** The attempt whose promise is being created. With one shared executor, no promise needs a closure. */
let promised: Attempt | undefined
const executor = (resolve: (value: unknown) => void, rejectPromise: (error: unknown) => void): void => {
  if (promised === undefined) return
  promised.$resolve = resolve
  promised.$reject = rejectPromise
}
