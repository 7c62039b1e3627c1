import type { RecordedClock, RecordedMoment, RecordedStep } from '../recorded-turn.ts'
import { Idleness } from './idleness.ts'
import { ReplayClock } from './replay-clock.ts'

/** Something that came from outside at a moment of the recording: a timer that fired, a steered message, or an abort. */
export interface Moment extends RecordedMoment {
  /** Returns false if it has no effect yet. It is tried again when nothing else happens. */
  happens(): boolean
}

/** A timer that is due this much before a recorded step ended has fired before it, in milliseconds and as a share of its length. */
const [slack, share] = [25, 0.1]

/** How often timers fire when nothing else can happen, and how often nothing is left before the run is stuck: some 3 s. */
const [mostTimers, mostLooks] = [500, 100]

/**
 * Gives each recorded step its turn, in the order in which the steps ended, and moves the time with them. It never hangs: if nothing
 * happens, the next recorded moment does, then a step that waits for one that nobody asks for, then a timer.
 */
export class Schedule {
  readonly clock: ReplayClock
  /** The number of recorded steps that have ended, or that the run does not ask for. */
  position = 0
  readonly #steps: readonly RecordedStep[]
  readonly #moments: Moment[]
  readonly #waiting = new Map<number, () => void>()
  readonly #ended = new Set<number>()
  readonly #idleness: Idleness
  readonly #stuck: () => void
  #fired = 0
  #looks = 0
  #isSettling = false

  /** @param stuck called when nothing can happen any more, although the run has not ended */
  constructor(
    recorded: { readonly startedAt: number; readonly steps: readonly RecordedStep[]; readonly clock?: RecordedClock | undefined },
    stuck: () => void,
  ) {
    this.#steps = recorded.steps
    this.#stuck = stuck
    this.#idleness = new Idleness(() => this.#whenIdle())
    this.clock = new ReplayClock(recorded.startedAt, recorded.clock?.reads ?? [], () => this.position)
    const fired = (recorded.clock?.fired ?? []).map(({ ms, ...at }) => ({ ...at, happens: () => this.clock.fire(ms) }))
    this.#moments = fired
  }

  /** Adds what comes from outside. Call it before the run. */
  add(moments: readonly Moment[]): void {
    this.#moments.push(...moments)
    this.#moments.sort((a, b) => a.after - b.after || a.at - b.at)
  }

  begin(): void {
    this.#idleness.begin()
  }

  /** The run has ended. */
  close(): void {
    this.#idleness.end()
    this.clock.clear()
    for (const release of this.#waiting.values()) release()
    this.#waiting.clear()
  }

  /** Something happened in the run. */
  touch(): void {
    this.#idleness.touch()
  }

  /** Waits until a recorded step may answer: after those that ended before it. Undefined if it may at once. */
  turnOf(place: number): Promise<void> | undefined {
    this.touch()
    if (place < this.position || this.#mayEnd(place)) {
      this.#moveTo(place)
      return undefined
    }
    return new Promise((resolve) => {
      this.#waiting.set(place, resolve)
      this.#step()
    })
  }

  /** A recorded step has ended, in any way. */
  ended(place: number): void {
    this.touch()
    this.#ended.add(place)
    while (this.#ended.has(this.position)) this.position++
    this.#step()
  }

  /** Whether the step is the next one, and nothing has to happen before. */
  #mayEnd(place: number): boolean {
    return place === this.position && !this.#isSettling && !this.#isDue() && this.#overdue(place) === undefined
  }

  #isDue(): boolean {
    const [moment] = this.#moments
    return moment !== undefined && moment.after <= this.position
  }

  /** The length of a timer that would have fired long before the step ended. */
  #overdue(place: number): number | undefined {
    const { at } = this.#steps[place] as RecordedStep
    const timer = this.clock.next
    return timer !== undefined && timer.due + Math.max(slack, share * timer.ms) < at ? timer.due : undefined
  }

  /** Lets the next thing happen, if a step waits for it. */
  #step(): void {
    const release = this.#waiting.get(this.position)
    if (release === undefined || this.#isSettling) return
    if (this.#isDue()) return this.#happen(this.#moments.shift() as Moment)
    if (this.#overdue(this.position) !== undefined) return this.#afterwards(() => this.clock.fireNext())
    this.#release(this.position, release)
  }

  #release(place: number, release: () => void): void {
    this.#waiting.delete(place)
    this.#moveTo(place)
    release()
  }

  #moveTo(place: number): void {
    this.clock.moveTo((this.#steps[place] as RecordedStep).at)
  }

  #happen(moment: Moment): void {
    this.#afterwards(() => {
      this.clock.moveTo(moment.at)
      return moment.happens()
    })
  }

  /** Does something, and lets the run react to it before the next step answers. */
  #afterwards(work: () => unknown): void {
    this.touch()
    this.#looks = 0
    this.#isSettling = true
    work()
    this.#idleness.settled(() => {
      this.#isSettling = false
      this.#step()
    })
  }

  #whenIdle(): void {
    if (this.#isSettling) return
    const moment = this.#moments.shift()
    if (moment !== undefined && moment.after <= this.position) return this.#happen(moment)
    if (moment !== undefined) this.#moments.unshift(moment)
    const [place] = [...this.#waiting.keys()].sort((a, b) => a - b)
    const timer = this.clock.next
    if (timer !== undefined && (place === undefined || timer.due < (this.#steps[place] as RecordedStep).at)) {
      if (this.#fired++ < mostTimers) return this.#afterwards(() => this.clock.fireNext())
    } else if (place !== undefined) {
      this.position = place
      return this.#step()
    } else if (moment !== undefined) {
      this.#moments.shift()
      return this.#happen(moment)
    }
    if (this.#fired > mostTimers || ++this.#looks > mostLooks) this.#stuck()
  }
}
