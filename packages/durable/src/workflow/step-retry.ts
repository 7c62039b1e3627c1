export interface StepRetry {
  /** The number of attempts, including the first. @default 3 */
  attempts?: number | undefined
  /** Milliseconds before the second attempt; they double for each further one. @default 250 */
  delay?: number | undefined
  /** The longest delay in milliseconds. @default 30_000 */
  maxDelay?: number | undefined
  /** Which errors are retried. @default all */
  when?(error: unknown): boolean
}
