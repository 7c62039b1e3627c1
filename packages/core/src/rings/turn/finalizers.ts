import { messageOf } from '../../errors/describe.ts'
import type { CoreEvents } from '../../events/events.ts'
import type { Turn } from './turn.ts'

/** How a run ended: its `turn:end`, with the error of one that was aborted, blocked or failed. */
export type RunEnd = CoreEvents['turn:end']

interface OnEnd {
  readonly fn: (end: RunEnd) => unknown
  readonly layer: string
}

/** What is left to do when a run has ended: what layers asked for with `onEnd()`, and the work that they deferred. */
export class Finalizers {
  readonly #turn: Turn
  #onEnd: OnEnd[] | undefined
  /** Work to await before the run settles. */
  deferred: Promise<unknown>[] | undefined

  constructor(turn: Turn) {
    this.#turn = turn
  }

  onEnd(fn: (end: RunEnd) => unknown, layer: string): void {
    this.#onEnd ??= []
    this.#onEnd.push({ fn, layer })
  }

  /** A rejection is told, not thrown. */
  defer(promise: PromiseLike<unknown>, layer: string): void {
    this.deferred ??= []
    this.deferred.push(
      Promise.resolve(promise).catch((error) => this.#report('defer', `Work deferred by the layer "${layer}"`, error)),
    )
  }

  /** Runs what layers do at the end, the last that was added first; what fails is told, not thrown. */
  run(end: RunEnd): Promise<void> | undefined {
    const all = this.#onEnd
    return all === undefined ? undefined : this.#bounded(this.#runAll(all, end))
  }

  /** When what was deferred has ended. */
  settled(): Promise<void> | undefined {
    return this.deferred === undefined ? undefined : this.#bounded(Promise.all(this.deferred))
  }

  async #runAll(all: OnEnd[], end: RunEnd): Promise<void> {
    for (let last = all.pop(); last !== undefined; last = all.pop())
      try {
        await last.fn({ ...end })
      } catch (error) {
        this.#report('onEnd', `onEnd() of the layer "${last.layer}"`, error)
      }
  }

  /** After the end of a run that was cut short, work holds the run up as long as a layer may, and no longer. */
  async #bounded(work: Promise<unknown>): Promise<void> {
    const { lifecycle, session } = this.#turn
    if (lifecycle.end === undefined) return void (await work)
    const over = new Promise<void>((resolve) => lifecycle.deadlines.add(session.agent.setup.abortGrace, resolve))
    await Promise.race([work, over])
    lifecycle.clearDeadlines()
  }

  #report(event: string, what: string, error: unknown): void {
    const { options, session } = this.#turn
    // It goes on in another process, and ends there.
    if (options.journal.lost === true) return
    const { observers, setup } = session.agent
    observers.emit('observer:error', { type: 'observer:error', event, error })
    setup.logger.error(`${what} failed: ${messageOf(error)}`, { error })
  }
}
