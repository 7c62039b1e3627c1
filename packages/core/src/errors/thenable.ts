export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}

/** Calls one of two callbacks, exactly once, when a thenable settles. A custom thenable may throw, or call both. */
export function watch(
  thenable: PromiseLike<unknown>,
  onValue: (value: unknown) => void,
  onError: (error: unknown) => void,
): void {
  void Promise.resolve(thenable).then(onValue, onError)
}

/** Prevents an unhandled rejection from ending the process. The promise still rejects for callers that await it. */
export function silence(promise: PromiseLike<unknown> | undefined): void {
  promise?.then(undefined, ignore)
}

/** Returns the promise itself, after `silence`, so that it may be dropped. */
export function quiet<T>(promise: Promise<T>): Promise<T> {
  silence(promise)
  return promise
}

/** Returns a rejected promise that may be dropped. */
export function rejected(error: unknown): Promise<never> {
  const promise = Promise.reject(error)
  promise.catch(ignore)
  return promise
}

/** Runs `then` after `wait`, or at once if there is nothing to wait for. */
export function after<T>(wait: void | Promise<void>, then: () => T): T | Promise<T> {
  return wait === undefined ? then() : wait.then(then)
}

function ignore(): void {}
