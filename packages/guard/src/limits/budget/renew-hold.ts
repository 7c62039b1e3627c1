import { messageOf, type TurnView } from '@allium/core'

/** Renews a hold well before it expires, until the returned function is called. A failed renewal is retried at the next interval. */
export function startRenewal(
  name: string,
  ctx: Pick<TurnView, 'clock' | 'logger'>,
  ttl: number,
  renew: () => unknown,
): () => void {
  let stop: () => void
  const arm = () => {
    stop = ctx.clock.after(
      ttl / 3,
      async () => {
        arm()
        try {
          await renew()
        } catch (error) {
          ctx.logger.warn(`"${name}" could not renew the reservation of a call: ${messageOf(error)}`, { error })
        }
      },
      { idle: true },
    )
  }
  arm()
  return () => stop()
}
