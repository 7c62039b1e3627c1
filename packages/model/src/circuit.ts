import { CircuitState, ConsecutiveBreaker, CountBreaker, type IBreaker } from 'cockatiel'

export type BreakerState = 'closed' | 'open' | 'half-open'

/** The outcome of a call: `neither` says nothing about the model. */
export type Outcome = 'success' | 'failure' | 'neither'

/** When a circuit opens: after this many consecutive failures, or when more than a share of the last calls failed. */
export type Threshold = number | { share: number; of: number }

/**
 * One circuit. cockatiel counts, and the caller provides the time, because cockatiel's own policy reads `Date.now` and makes calls
 * wait for the trial. Times are monotonic milliseconds.
 */
export class Circuit {
  state: BreakerState = 'closed'
  readonly #counts: IBreaker
  readonly #halfOpenAfter: number
  /** When the next trial call is allowed, unless closed. */
  #until = 0
  /** Grows with each state change and trial. The outcome of a call from an earlier epoch says nothing about the current state. */
  #epoch = 0

  constructor(threshold: Threshold, halfOpenAfter: number) {
    this.#counts = createCounter(threshold)
    this.#halfOpenAfter = halfOpenAfter
  }

  /** Returns for how many milliseconds calls are still rejected; 0 if a call is allowed now. */
  remainingOpenTime(now: number): number {
    return this.state === 'closed' ? 0 : Math.max(0, this.#until - now)
  }

  /** Admits a call and returns a function that records its outcome. If a trial hangs, another one is allowed after the same time. */
  admit(now: number): (outcome: Outcome, now: number) => void {
    if (this.state !== 'closed') {
      this.#turn('half-open')
      this.#until = now + this.#halfOpenAfter
    }
    const epoch = this.#epoch
    return (outcome, endedAt) => {
      if (epoch === this.#epoch) this.#take(outcome, endedAt)
    }
  }

  #take(outcome: Outcome, now: number): void {
    const isTrial = this.state === 'half-open'
    if (outcome === 'neither') {
      if (isTrial) this.#until = now
      return
    }
    const observedState = isTrial ? CircuitState.HalfOpen : CircuitState.Closed
    if (outcome === 'success') {
      this.#counts.success(observedState)
      if (isTrial) this.#turn('closed')
    } else if (this.#counts.failure(observedState) || isTrial) {
      this.#until = now + this.#halfOpenAfter
      this.#turn('open')
    }
  }

  #turn(state: BreakerState): void {
    this.state = state
    this.#epoch++
  }
}

/** @throws RangeError when cockatiel rejects the share */
function createCounter(threshold: Threshold): IBreaker {
  return typeof threshold === 'number'
    ? new ConsecutiveBreaker(threshold)
    : new CountBreaker({ threshold: threshold.share, size: threshold.of })
}
