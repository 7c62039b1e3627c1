import type { Host } from '../host/host.ts'
import type { LiveRun } from '../run/live-run.ts'

/** A run that started this often without a new step is suspected of crashing its process. */
const suspectAttempts = 3
/** Leases after which a process that is never idle starts a suspected run together with its other runs. */
const maxSuspectWait = 6

/** Lets a run that is suspected of crashing its process run alone, until it has recorded a step. */
export class Isolation {
  readonly #host: Pick<Host, 'clock' | 'limits'>
  /** The suspected run that is running here and has not recorded a step. */
  #suspect: LiveRun | undefined
  /** Until then, nothing starts in addition to the suspected run. */
  #until = 0
  /** When this process last looked for a suspected run while it was idle. */
  #lookedAloneAt: number

  constructor(host: Pick<Host, 'clock' | 'limits'>) {
    this.#host = host
    this.#lookedAloneAt = host.clock.monotonic()
  }

  /** Whether nothing may start in addition to a suspected run. */
  get isActive(): boolean {
    return this.#until > this.#host.clock.monotonic()
  }

  isSuspect({ status, attempts }: LiveRun['claimed']['run']): boolean {
    return status === 'running' && attempts >= suspectAttempts
  }

  /** A suspected run begins. @param isAlone nothing else runs here */
  begin(live: LiveRun, isAlone: boolean): void {
    const { clock, limits } = this.#host
    if (isAlone) this.#until = clock.monotonic() + limits.lease
    this.#suspect = live
  }

  /** Ends the isolation of a run that has recorded a step or ended. Returns whether it was the suspected one. */
  end(live: LiveRun): boolean {
    if (this.#suspect !== live) return false
    this.#suspect = undefined
    this.#until = 0
    return true
  }

  /** Whether to claim a suspected run now. It waits for an idle process, but not forever. */
  mayClaim({ isIdle, hasRoom }: { isIdle: boolean; hasRoom: boolean }): boolean {
    const { clock, limits } = this.#host
    const hasWaited = clock.monotonic() - this.#lookedAloneAt > maxSuspectWait * limits.lease && hasRoom
    if (isIdle) this.#lookedAloneAt = clock.monotonic()
    return this.#suspect === undefined && (isIdle || hasWaited)
  }
}
