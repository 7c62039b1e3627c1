import { AlliumError, type Clock, type NextFor, type NextOptions } from '@allium/core'
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

function limited(place: HookPlace, ms: number): AnyHook {
  return (ctx, next) => {
    const own = new OwnTime(ctx.clock, ms, () => tooSlow(place, ms))
    const leased = lease(ctx, () => own.over)
    return own.bound(
      () => place.run(leased.ctx, (options) => own.inside(next, options)),
      (error) => leased.end(error),
    )
  }
}

/** A stopwatch that stands still while next() runs. */
class OwnTime {
  /** The error of a layer whose time is over. */
  over: AlliumError | undefined
  readonly #clock: Clock
  readonly #error: () => AlliumError
  #left: number
  #since = 0
  #stop: (() => void) | undefined
  #running = 0
  #ended = false
  #late: ((error: AlliumError) => void) | undefined

  constructor(clock: Clock, ms: number, error: () => AlliumError) {
    this.#clock = clock
    this.#left = ms
    this.#error = error
  }

  /** What the hook gives, or the error of its time. */
  bound(hook: () => unknown, ended: (error: AlliumError) => void): unknown {
    this.#since = this.#clock.monotonic()
    const returned = hook()
    if (!isThenable(returned)) return returned
    return new Promise((resolve, reject) => {
      this.#late = (error) => {
        ended(error)
        reject(error)
      }
      returned.then(
        (value) => resolve(this.#end(value)),
        (error) => reject(this.#end(error)),
      )
      if (this.#running === 0) this.#go()
    })
  }

  /** next(), whose time does not count. */
  inside(next: NextFor<unknown>, options: NextOptions | undefined): Promise<unknown> {
    if (this.over !== undefined) return rejected(this.over)
    if (this.#running++ === 0) this.#pause()
    const back = () => {
      if (--this.#running === 0) this.#go()
    }
    const running = next(options)
    running.then(back, back)
    return running
  }

  #end<T>(outcome: T): T {
    this.#stop?.()
    this.#ended = true
    return outcome
  }

  #pause(): void {
    this.#stop?.()
    this.#left -= this.#clock.monotonic() - this.#since
  }

  #go(): void {
    if (this.#ended) return
    this.#since = this.#clock.monotonic()
    this.#stop = this.#clock.after(Math.max(this.#left, 0), () => {
      this.over = this.#error()
      this.#late?.(this.over)
    })
  }
}

function tooSlow({ layer, scope }: HookPlace, ms: number): AlliumError {
  return new AlliumError(
    'layer.timeout',
    `Layer "${layer}" (${scope}) took more than ${ms} ms of its own time. Raise the limit, or put failOpen() or failClosed() around it.`,
    { details: { layer, scope, ms } },
  )
}
