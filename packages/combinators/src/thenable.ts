export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}

/** Marks a promise as watched, so that nobody's rejection ends the process. */
export function silence(promise: PromiseLike<unknown>): void {
  promise.then(undefined, () => {})
}

/** A rejected promise that may be dropped. */
export function rejected(error: unknown): Promise<never> {
  const promise = Promise.reject(error)
  silence(promise)
  return promise
}
