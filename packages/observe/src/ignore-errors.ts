/** Runs `fn` and ignores its errors, because an observer must never fail the run. */
export function ignoreErrors<T>(fn: () => T): T | undefined {
  try {
    return fn()
  } catch {
    return undefined
  }
}

/** Same, and also ignores a later rejection. */
export function ignoreFailure(fn: () => unknown): void {
  ignoreErrors(() => Promise.resolve(fn()).catch(() => {}))
}
