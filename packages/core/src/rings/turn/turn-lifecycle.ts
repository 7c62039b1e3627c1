import { AbortError, toAbortError } from '../../errors/abort-error.ts'
import { BlockError, type BlockOptions } from '../../errors/block-error.ts'
import { silence } from '../../errors/thenable.ts'
import { abandon, reject } from '../../onion/abandon.ts'
import { type Attempt, type Ending, isOpen, isOver, State } from '../../onion/attempt.ts'
import { Cancel } from '../../onion/cancel.ts'
import { enter, failInside, outcomeOf } from '../../onion/next.ts'
import { Deadlines } from '../../seams/deadlines.ts'
import type { TurnAttempt } from './context.ts'
import { GracePeriod } from './grace-period.ts'
import type { Turn } from './turn.ts'
import type { TurnCall } from './turn-call.ts'
import type { EndKind } from './turn-options.ts'

type Abandon = (reason: unknown) => void

/** What runs in a turn, from its outermost attempt inward, and what ends it before its time. */
export class TurnLifecycle {
  /** The outermost attempt, and the one that the loop runs in. */
  root: Attempt | undefined
  core: TurnAttempt | undefined
  /** How the run ends before its time, if it does; the first abort or block stays. */
  end: (Ending & { kind: EndKind }) | undefined
  /** The outermost layer has returned: how the run ends is decided. */
  isSettled = false
  readonly gracePeriod: GracePeriod
  readonly #turn: Turn
  readonly #cancel = new Cancel()
  /** The outermost attempts of the calls that run inside the loop. */
  #openCalls: Attempt[] | undefined
  /** Waits of the loop itself. */
  #pending: Set<Abandon> | undefined
  #deadlines: Deadlines | undefined

  constructor(turn: Turn) {
    this.#turn = turn
    this.gracePeriod = new GracePeriod(turn, this)
  }

  /** The timeouts of its tools, and how long it waits for layers that do not come back. */
  get deadlines(): Deadlines {
    this.#deadlines ??= new Deadlines(this.#turn.session.agent.setup.clock)
    return this.#deadlines
  }
  /** No timer is left. */
  clearDeadlines(): void {
    this.#deadlines?.clear()
  }

  /** Runs the turn's onion. Over when its outermost layer has come back, or is given up. */
  start(): unknown {
    const root = this.#turn.ring.create(this.#turn, undefined, 1, this.#cancel)
    this.root = root
    enter(root)
    return outcomeOf(root)
  }
  /** The turn waits for its layers no longer. */
  giveUp(): void {
    if (this.root !== undefined) reject(this.root, this.end?.error)
  }

  /** Runs a call inside the loop: what it comes to, at once or as a promise. */
  run(call: TurnCall): unknown {
    const core = this.core as TurnAttempt
    const root = call.ring.create(call, undefined, 1, core.$cancel)
    if (this.#openCalls === undefined) this.#openCalls = [root]
    else this.#openCalls.push(root)
    enter(root)
    return outcomeOf(root)
  }
  /** A call inside the loop has come to its end. */
  ended(root: Attempt): void {
    const open = this.#openCalls
    if (open === undefined) return
    if (open.at(-1) === root) open.pop()
    else if (open.includes(root)) open.splice(open.indexOf(root), 1)
  }
  /** The outermost attempts that are open: those of the calls inside, then that of the turn. */
  open(): Attempt[] {
    const all = [...(this.#openCalls ?? [])]
    if (this.root !== undefined) all.push(this.root)
    return all.filter(isOpen)
  }

  /** Whether the loop goes on no more: the run has ended, or its layers have left it. */
  get isOver(): boolean {
    return this.end !== undefined || (this.core !== undefined && isOver(this.core))
  }
  /** Why it does not. */
  get reason(): unknown {
    return this.end === undefined ? this.core?.$outcome : this.end.error
  }

  /** A wait of the loop itself, which does not outlast it. */
  until<T>(promise: PromiseLike<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const abandonWait = (reason: unknown) => {
        this.#pending?.delete(abandonWait)
        reject(reason)
      }
      if (this.isOver) {
        silence(promise)
        return reject(this.reason)
      }
      this.#pending ??= new Set()
      this.#pending.add(abandonWait)
      promise.then(
        (value) => {
          this.#pending?.delete(abandonWait)
          resolve(value)
        },
        (error) => abandonWait(error),
      )
    })
  }

  /** The loop was left: what runs in it is, too; calls that have no result yet are cancelled. */
  abandonLoop(reason: unknown): void {
    for (const root of [...(this.#openCalls ?? [])]) if (isOpen(root)) abandon(root, reason)
    for (const abandonWait of this.#pending ?? []) abandonWait(reason)
    this.#turn.view.seal()
  }

  abort(reason: unknown): never {
    const error = toAbortError(reason)
    this.terminate('aborted', error)
    throw this.end?.error ?? error
  }
  block(reason: string, details: BlockOptions): never {
    const error = new BlockError(reason, details)
    this.terminate('blocked', error)
    throw this.end?.error ?? error
  }
  fail(error: unknown): void {
    this.terminate('failed', error)
  }
  /** Ends the run before its time: everything inside is cancelled, every layer unwinds. */
  terminate(kind: EndKind, error: unknown): void {
    if (this.isSettled || (this.end !== undefined && (this.end.kind !== 'failed' || kind === 'failed'))) return
    this.#end(kind, error)
    this.gracePeriod.begin()
    // Who decides may still be on the stack.
    queueMicrotask(() => this.#failInside())
  }
  /** The same where no layer is left inside. */
  close(kind: EndKind, error: unknown): void {
    this.isSettled = true
    this.#end(kind, error)
  }

  #end(kind: EndKind, error: unknown): void {
    this.end = { kind, error }
    this.#turn.events.flow?.()
    const reason =
      kind === 'aborted' ? error : new AbortError(kind === 'blocked' ? (error as BlockError).message : 'the run failed')
    this.#cancel.abort(reason)
  }

  #failInside(): void {
    if (this.isSettled) return
    const error = this.end?.error
    for (const root of [...(this.#openCalls ?? [])]) failInside(root, error)
    for (const abandonWait of this.#pending ?? []) abandonWait(error)
    if (this.root !== undefined && this.core?.$state !== State.running) failInside(this.root, error)
  }
}
