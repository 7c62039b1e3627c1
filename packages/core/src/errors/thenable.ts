export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}

/** Calls one of two functions, once, when a thenable settles; one of its own making may throw, or call both. */
export function watch(
  thenable: PromiseLike<unknown>,
  onValue: (value: unknown) => void,
  onError: (error: unknown) => void,
): void {
  if (thenable instanceof Promise) void thenable.then(onValue, onError)
  else void Promise.resolve(thenable).then(onValue, onError)
}

/** Marks a promise as watched, so that nobody's rejection ends the process. The promise still rejects for who awaits it. */
export function silence(promise: PromiseLike<unknown> | undefined): void {
  promise?.then(undefined, ignore)
}

/** The promise itself, which may be dropped: a rejection that nobody awaits ends no process. */
export function quiet<T>(promise: Promise<T>): Promise<T> {
  silence(promise)
  return promise
}

/** A rejected promise that may be dropped. */
export function rejected(error: unknown): Promise<never> {
  const promise = Promise.reject(error)
  promise.catch(ignore)
  return promise
}

/** Runs `then` after `wait`, at once where there is nothing to wait for. */
export function after<T>(wait: void | Promise<void>, then: () => T): T | Promise<T> {
  return wait === undefined ? then() : wait.then(then)
}

function ignore(): void {}
