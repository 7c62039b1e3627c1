/** Runtimes other than Node may have no immediates. */
const { setImmediate: immediate = setTimeout } = globalThis as { setImmediate?: (fn: () => void) => unknown }

let tick: Promise<void> | undefined
const timers = new Map<number, Promise<void>>()

/** Resolves after the events of this tick of the event loop have arrived. All callers of a tick share one immediate. */
export function endOfTick(): Promise<void> {
  tick ??= new Promise<void>((resolve) => immediate(resolve)).then(() => {
    tick = undefined
  })
  return tick
}

/** Resolves at a time of `performance.now()`. Callers of the same time share one timer. */
export function timeOf(at: number): Promise<void> {
  let timer = timers.get(at)
  if (timer === undefined) {
    timer = new Promise<void>((resolve) => setTimeout(resolve, at - performance.now())).then(() => {
      timers.delete(at)
    })
    timers.set(at, timer)
  }
  return timer
}
