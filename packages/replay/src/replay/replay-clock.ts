import type { Clock } from '@allium/core'

interface Timer {
  readonly due: number
  readonly ms: number
  readonly fn: () => void
}

/** The clock of a replayed turn. Its time moves with the recording: with the readings of the clock, and when a step ends. */
export class ReplayClock implements Clock {
  readonly #start: number
  readonly #reads = new Map<number, readonly number[]>()
  readonly #used = new Map<number, number>()
  readonly #position: () => number
  readonly #timers = new Set<Timer>()
  #elapsed = 0

  /** @param position returns how many recorded steps have ended */
  constructor(start: number, reads: readonly (readonly number[])[], position: () => number) {
    this.#start = start
    this.#position = position
    for (const [after, ...times] of reads)
      if (after !== undefined) this.#reads.set(after, [...(this.#reads.get(after) ?? []), ...times])
  }

  now(): number {
    const position = this.#position()
    const used = this.#used.get(position) ?? 0
    const reading = this.#reads.get(position)?.[used]
    this.#used.set(position, used + 1)
    if (reading === undefined) return this.#start + this.#elapsed
    this.moveTo(reading)
    return this.#start + reading
  }

  monotonic(): number {
    return this.#elapsed
  }

  after(ms: number, fn: () => void): () => void {
    const timer = { due: this.#elapsed + ms, ms, fn }
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }

  /** The timer that is due first. */
  get next(): Pick<Timer, 'due' | 'ms'> | undefined {
    return this.#first()
  }

  moveTo(elapsed: number): void {
    this.#elapsed = Math.max(this.#elapsed, elapsed)
  }

  fireNext(): void {
    const timer = this.#first()
    if (timer !== undefined) this.#fire(timer)
  }

  /** Fires the timer whose length is nearest to a recorded one. The rest of a delay may differ by some milliseconds. */
  fire(ms: number): boolean {
    let nearest: Timer | undefined
    for (const timer of this.#timers)
      if (nearest === undefined || Math.abs(timer.ms - ms) < Math.abs(nearest.ms - ms)) nearest = timer
    if (nearest === undefined || Math.abs(nearest.ms - ms) > Math.max(20, 0.05 * ms)) return false
    this.#fire(nearest)
    return true
  }

  clear(): void {
    this.#timers.clear()
  }

  #first(): Timer | undefined {
    let first: Timer | undefined
    for (const timer of this.#timers) if (first === undefined || timer.due < first.due) first = timer
    return first
  }

  #fire(timer: Timer): void {
    this.#timers.delete(timer)
    this.moveTo(timer.due)
    timer.fn()
  }
}
