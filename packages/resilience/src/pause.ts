import { type TurnContext, wait } from '@allium/core'

/** Between two attempts. */
export interface Pause {
  /** Milliseconds. */
  readonly delay: number
  /** Waits until it is over; rejects with the reason of the context's signal. */
  wait(): Promise<void>
}

/**
 * Whether to try again, and how long to wait before. A run that is replayed chooses as it chose, and waits for what is left.
 *
 * @param choose gives milliseconds; undefined where there is no other attempt
 */
export async function pause(
  ctx: Pick<TurnContext, 'once' | 'clock' | 'signal'>,
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
