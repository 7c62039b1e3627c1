/** How a value breaks a schema. */
export interface Failure {
  readonly message: string
  readonly path: readonly (string | number)[]
}

/**
 * `unknown`: nothing that was checked is wrong, but a part of the schema was not checked. It keeps `not` and `oneOf` from
 * refusing a value because of a keyword that nobody evaluated.
 */
export type Verdict = 'valid' | 'unknown' | Failure

/** Fails with this message at the place that is checked. */
export function failure(message: string): Failure {
  return { message, path: [] }
}

export function isFailure(verdict: Verdict): verdict is Failure {
  return typeof verdict === 'object'
}

/** The verdict about a member, told at its place in the value that holds it. */
export function at(key: string | number, verdict: Verdict): Verdict {
  return isFailure(verdict) ? { message: verdict.message, path: [key, ...verdict.path] } : verdict
}

/** Asks each in order: the first failure, else `unknown` if one of them is. */
export function every<T>(items: Iterable<T>, check: (item: T) => Verdict): Verdict {
  let verdict: Verdict = 'valid'
  for (const item of items) {
    const one = check(item)
    if (isFailure(one)) return one
    if (one === 'unknown') verdict = one
  }
  return verdict
}
