import { type TurnView, delay as wait } from '@allium/core'

/** A delay between two attempts. */
export interface Pause {
  /** Milliseconds. */
  readonly delay: number
  /** Resolves after the delay; rejects with the reason of the context's signal. */
  wait(): Promise<void>
}

/**
 * Returns whether to retry, and the delay. A replay makes the same choice and waits for the remaining time.
 *
 * @param choose returns milliseconds; undefined if there is no further attempt
 */
export async function pause(
  ctx: Pick<TurnView, 'once' | 'clock' | 'signal'>,
  choose: () => number | undefined,
): Promise<Pause | undefined> {
  const { clock, signal } = ctx
  const recorded = await ctx.once('pause', () => toRecord(choose(), clock.now()), { per: 'attempt' })
  if (recorded === 'none') return undefined
  const { delay: ms, end } = recorded
  const remaining = Math.min(ms, end - clock.now())
  return { delay: ms, wait: async () => (remaining > 0 || ms === 0 ? wait(remaining, clock, signal) : undefined) }
}

function toRecord(delay: number | undefined, now: number): { delay: number; end: number } | 'none' {
  return delay === undefined ? 'none' : { delay, end: now + delay }
}
