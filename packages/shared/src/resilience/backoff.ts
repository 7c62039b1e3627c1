export interface BackoffOptions {
  /** The delay after the first attempt in milliseconds; it doubles for each further attempt. */
  delay: number
  /** The longest delay in milliseconds. */
  maxDelay: number
  /** The random share of a delay, from 0 to 1. */
  jitter: number
  random(): number
}

/** Returns the delay after an attempt in milliseconds; attempts count from 1. */
export function backoff(attempt: number, { delay, maxDelay, jitter, random }: BackoffOptions): number {
  return Math.min(delay * 2 ** (attempt - 1), maxDelay) * (1 - jitter * random())
}
