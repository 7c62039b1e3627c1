/** Handles a promise's rejection, so that it does not end the process. */
export function silence(promise: PromiseLike<unknown>): void {
  promise.then(undefined, () => {})
}

/** Returns a rejected promise that may be dropped. */
export function rejected(error: unknown): Promise<never> {
  const promise = Promise.reject(error)
  silence(promise)
  return promise
}
