/** How a value violates a schema. */
export interface Failure {
  readonly message: string
  readonly path: readonly (string | number)[]
}

/**
 * `unknown`: nothing that was checked is invalid, but a part of the schema was not checked. It keeps `not` and `oneOf` from
 * rejecting a value because of an unevaluated keyword.
 */
export type Verdict = 'valid' | 'unknown' | Failure

/** Returns a failure at the checked position. */
export function failure(message: string): Failure {
  return { message, path: [] }
}

export function isFailure(verdict: Verdict): verdict is Failure {
  return typeof verdict === 'object'
}

/** Returns the verdict about a member, with its path in the containing value. */
export function at(key: string | number, verdict: Verdict): Verdict {
  return isFailure(verdict) ? { message: verdict.message, path: [key, ...verdict.path] } : verdict
}

/** Checks each item in order: returns the first failure, or else `unknown` if one is unknown. */
export function every<T>(items: Iterable<T>, check: (item: T) => Verdict): Verdict {
  let verdict: Verdict = 'valid'
  for (const item of items) {
    const one = check(item)
    if (isFailure(one)) return one
    if (one === 'unknown') verdict = one
  }
  return verdict
}
