import { messageOf } from '../errors/describe.ts'
import type { RunEnd } from '../events/events.ts'
import type { Journal } from '../ports/journal.ts'
import type { SessionScope } from '../session/scope/session-scope.ts'
import type { TurnLifecycle } from './turn-lifecycle.ts'

interface OnEnd {
  readonly fn: (end: RunEnd) => unknown
  readonly layer: string
}

/** The turn that they belong to. */
interface FinalizersHost {
  readonly options: { readonly journal: Journal }
  readonly session: Pick<SessionScope, 'agent'>
  readonly lifecycle: Pick<TurnLifecycle, 'clearDeadlines' | 'deadlines' | 'end'>
}

/** Work that is left when a run has ended: `onEnd()` handlers and deferred promises. */
export class Finalizers {
  readonly #turn: FinalizersHost
  #onEnd: OnEnd[] | undefined
  /** Promises that the run waits for before it settles. */
  deferred: Promise<unknown>[] | undefined

  constructor(turn: FinalizersHost) {
    this.#turn = turn
  }

  onEnd(fn: (end: RunEnd) => unknown, layer: string): void {
    this.#onEnd ??= []
    this.#onEnd.push({ fn, layer })
  }

  /** Defers a promise. A rejection is reported, not thrown. */
  defer(promise: PromiseLike<unknown>, layer: string): void {
    this.deferred ??= []
    this.deferred.push(
      Promise.resolve(promise).catch((error) => this.#report('defer', `Work deferred by the layer "${layer}"`, error)),
    )
  }

  /** Runs the `onEnd()` handlers, then `settle`, and waits for the deferred promises. */
  async around<T>(end: RunEnd, settle: () => T): Promise<T> {
    if (this.#onEnd !== undefined) await this.#bounded(this.#runAll(this.#onEnd, end))
    try {
      return settle()
    } finally {
      if (this.deferred !== undefined) await this.#bounded(Promise.all(this.deferred))
    }
  }

  /** The last handler runs first. Errors are reported, not thrown. */
  async #runAll(all: OnEnd[], end: RunEnd): Promise<void> {
    for (let last = all.pop(); last !== undefined; last = all.pop())
      try {
        await last.fn({ ...end })
      } catch (error) {
        this.#report('onEnd', `onEnd() of the layer "${last.layer}"`, error)
      }
  }

  /** Waits for work. After an early end of the run it waits at most the grace period. */
  async #bounded(work: Promise<unknown>): Promise<void> {
    const { lifecycle, session } = this.#turn
    if (lifecycle.end === undefined) return void (await work)
    const over = new Promise<void>((resolve) => lifecycle.deadlines.add(session.agent.setup.gracePeriod, resolve))
    await Promise.race([work, over])
    lifecycle.clearDeadlines()
  }

  #report(event: string, what: string, error: unknown): void {
    const { options, session } = this.#turn
    // The run continues in another process and will end there.
    if (options.journal.takenOver === true) return
    const { observers, setup } = session.agent
    observers.emit('observer:error', { type: 'observer:error', event, error })
    setup.logger.error(`${what} failed: ${messageOf(error)}`, { error })
  }
}
