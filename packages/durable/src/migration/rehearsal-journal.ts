import { AbortError, type Emit, type Journal, type Lease, type ToolResult } from '@allium/core'
import { type RecordedStep, replayStep } from '@allium/store'
import { isTakeoverStep, type RunCheck } from '@allium/store/journal'
import { isPatchStep } from '../journal/patched.ts'

/** Replays recorded steps, and stops when the code has requested all that it can without new ones. */
export class RehearsalJournal implements Journal {
  /** Nothing of the turn is stored. */
  readonly takenOver = true
  readonly lease: Lease
  onStop = () => {}
  replayed = 0
  /** The code has requested each recorded step that it could. */
  fits = false
  /** The calls that still run are cancelled. */
  isStopped = false
  #hasNew = false
  #rejectStopped = (_: unknown) => {}
  /** Rejects when the rehearsal stops. */
  readonly #stopped = new Promise<never>((_, reject) => {
    this.#rejectStopped = reject
  })
  readonly #turnId: string
  readonly #steps: ReadonlyMap<string, unknown>
  readonly #check: RunCheck

  constructor(lease: Lease, steps: readonly RecordedStep[], { turnId, check }: { turnId: string; check: RunCheck }) {
    this.lease = lease
    this.#turnId = turnId
    this.#steps = new Map(steps.map(({ id, body }) => [id, body]))
    this.#check = check
    this.#stopped.catch(() => {})
  }

  known(id: string): boolean {
    return this.#steps.has(id)
  }
  checkEnd(turnId: string): void {
    if (this.fits) return
    this.#check.checkEnd(turnId)
    this.fits = turnId === this.#turnId
  }
  async step<T, C>(id: string, work: (emit: Emit<C>) => T | PromiseLike<T>, emit: Emit<C>): Promise<T> {
    this.#check.use(id)
    if (this.#steps.has(id)) {
      this.replayed++
      const value = await replayStep<T, C>(this.#steps.get(id), emit)
      this.#stopAtEnd()
      return value
    }
    if (isPatchStep(id)) return work(emit)
    // A process that takes the run over adds such steps before recorded ones.
    if (isTakeoverStep(id)) return undefined as T
    await Promise.race([this.#check.wait(id), this.#stopped])
    await this.#check.checkLost()
    this.#check.begin(id)
    // Its agent has recorded steps.
    if (this.#check.hasInner(id)) return work(emit)
    this.#hasNew = true
    this.#stopAtEnd()
    // Tools that wait for this one may have recorded steps, too.
    const callId = /(?<!:once):tool:(.+):\d+$/s.exec(id)?.[1]
    if (callId !== undefined) this.#check.refuse(id)
    if (this.fits || callId === undefined) return this.#stopped
    return { callId, content: 'Not run in a rehearsal.', isError: true, status: 'error' } satisfies ToolResult as T
  }
  /** Ends the rehearsal. Parallel calls may still be requested after the first new step. */
  stop(): void {
    this.isStopped = true
    this.fits ||= this.#hasNew && this.#check.missing() === undefined
    this.#rejectStopped(new AbortError('rehearsal'))
    this.onStop()
  }
  #stopAtEnd(): void {
    if (this.#hasNew && this.#check.missing(true) === undefined) this.stop()
  }
}
