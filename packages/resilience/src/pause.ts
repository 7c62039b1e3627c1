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
  const chosen = await ctx.once('pause', () => until(choose(), clock.now()), { per: 'attempt' })
  if (chosen === 'none') return undefined
  const { delay: ms, end } = chosen
  const left = Math.min(ms, end - clock.now())
  return { delay: ms, wait: async () => (left > 0 || ms === 0 ? wait(left, clock, signal) : undefined) }
}

function until(delay: number | undefined, now: number): { delay: number; end: number } | 'none' {
  return delay === undefined ? 'none' : { delay, end: now + delay }
}
