import { AlliumError, type NextOptions } from '@allium/core'
import { type AnyHook, type Combinable, type Combined, combine, type HookPlace } from './combine.ts'
import { describe } from './describe.ts'
import { lease } from './lease.ts'
import { isThenable, rejected } from './thenable.ts'

/**
 * Bounds the time that a layer takes itself, before and after its next() together; what is inside does not count.
 *
 * For layers that wait for something of their own, such as a judge or a lookup. When the time is over the layer fails with
 * `layer.timeout`, which ends the run unless a `failOpen` or `failClosed` around it takes care. Its `ctx.signal` aborts;
 * what it still does is dropped: its context throws, and its result and errors go nowhere.
 *
 * @param ms milliseconds of the agent's clock, for each entry of each hook
 *
 * @example
 * agent.use(failOpen(limitTime(judge(), 2_000)))
 *
 * @throws AlliumError `layer.config` where `ms` is not above 0
 */
export function limitTime<M extends Combinable>(layer: M, ms: number): Combined<M> {
  if (typeof ms !== 'number' || !(ms > 0))
    throw new AlliumError('layer.config', `limitTime() takes milliseconds above 0, but ${describe(ms)} was given.`)
  return combine('limitTime', layer, (place) => limited(place, ms))
}

/** Measures with a watch that stands still while next() runs. */
function limited(place: HookPlace, ms: number): AnyHook {
  return (ctx, next) => {
    const { clock } = ctx
    let [left, since, inside, ended] = [ms, clock.monotonic(), 0, false]
    let over: AlliumError | undefined
    let stop: (() => void) | undefined
    let late: ((error: AlliumError) => void) | undefined
    const leased = lease(ctx, () => over)

    const returned = place.run(leased.ctx, enter as typeof next)
    if (!isThenable(returned)) {
      ended = true
      return returned
    }
    return new Promise((resolve, reject) => {
      late = (error) => {
        leased.end(error)
        reject(error)
      }
      const end = (settle: (outcome: unknown) => void) => (outcome: unknown) => {
        stop?.()
        ended = true
        settle(outcome)
      }
      returned.then(end(resolve), end(reject))
      if (inside === 0) go()
    })

    function enter(options?: NextOptions): Promise<unknown> {
      if (over !== undefined) return rejected(over)
      if (inside++ === 0) pause()
      const back = () => {
        if (--inside === 0) go()
      }
      const running = next(options)
      running.then(back, back)
      return running
    }

    function pause(): void {
      stop?.()
      left -= clock.monotonic() - since
    }

    function go(): void {
      if (ended) return
      since = clock.monotonic()
      stop = clock.after(Math.max(left, 0), () => {
        over = tooSlow(place, ms)
        late?.(over)
      })
    }
  }
}

function tooSlow({ layer, scope }: HookPlace, ms: number): AlliumError {
  return new AlliumError(
    'layer.timeout',
    `Layer "${layer}" (${scope}) took more than ${ms} ms of its own time. Raise the limit, or put failOpen() or failClosed() around it.`,
    { details: { layer, scope, ms } },
  )
}
