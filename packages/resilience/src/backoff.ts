export interface BackoffOptions {
  /** Milliseconds after the first attempt; doubled for each further one. */
  delay: number
  /** The longest wait in milliseconds. */
  maxDelay: number
  /** The part of a wait that is left to chance, from 0 to 1. */
  jitter: number
  random(): number
}

/** Milliseconds to wait after an attempt, counted from 1. */
export function backoff(attempt: number, { delay, maxDelay, jitter, random }: BackoffOptions): number {
  return Math.min(delay * 2 ** (attempt - 1), maxDelay) * (1 - jitter * random())
}
