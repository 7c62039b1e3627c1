import { CircuitState, ConsecutiveBreaker, CountBreaker, type IBreaker } from 'cockatiel'

export type BreakerState = 'closed' | 'open' | 'half-open'

/** How a call ended: `neither` says nothing about the model. */
export type Outcome = 'success' | 'failure' | 'neither'

/** When a circuit opens: after so many failures in a row, or when more than a share of the last calls failed. */
export type Threshold = number | { share: number; of: number }

/**
 * One circuit: cockatiel counts, and the time is the caller's. (cockatiel's own policy reads `Date.now`, and lets calls
 * wait for the trial.) Times are monotonic milliseconds.
 */
export class Circuit {
  state: BreakerState = 'closed'
  readonly #counts: IBreaker
  readonly #halfOpenAfter: number
  /** When a call is let through as a trial, unless closed. */
  #until = 0
  /** Grows with each change of state and each trial: what a call that began before came to says nothing about now. */
  #epoch = 0

  constructor(threshold: Threshold, halfOpenAfter: number) {
    this.#counts = createCounter(threshold)
    this.#halfOpenAfter = halfOpenAfter
  }

  /** Milliseconds for which calls are turned away; 0 where one may go now. */
  remainingOpenTime(now: number): number {
    return this.state === 'closed' ? 0 : Math.max(0, this.#until - now)
  }

  /** Lets a call through; what this gives takes how it ended. A trial that hangs is followed by another one in time. */
  admit(now: number): (outcome: Outcome, now: number) => void {
    if (this.state !== 'closed') {
      this.#turn('half-open')
      this.#until = now + this.#halfOpenAfter
    }
    const epoch = this.#epoch
    return (outcome, now) => {
      if (epoch === this.#epoch) this.#take(outcome, now)
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

/** @throws RangeError where cockatiel takes no such share */
function createCounter(threshold: Threshold): IBreaker {
  return typeof threshold === 'number'
    ? new ConsecutiveBreaker(threshold)
    : new CountBreaker({ threshold: threshold.share, size: threshold.of })
}
