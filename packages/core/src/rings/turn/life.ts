import { AbortError, toAbortError } from '../../errors/abort-error.ts'
import { BlockError, type BlockOptions } from '../../errors/block-error.ts'
import { silence } from '../../errors/thenable.ts'
import { abandon, reject } from '../../onion/abandon.ts'
import { type Attempt, type Ending, isOpen, isOver, State } from '../../onion/attempt.ts'
import { Cancel } from '../../onion/cancel.ts'
import { enter, failInside, outcomeOf } from '../../onion/next.ts'
import { Deadlines } from '../../seams/deadlines.ts'
import type { TurnAttempt } from './context.ts'
import { Grace } from './grace.ts'
import type { Turn } from './turn.ts'
import type { TurnCall } from './turn-call.ts'
import type { EndKind } from './turn-options.ts'

type Leave = (reason: unknown) => void

/** What runs in a turn, from its outermost attempt inward, and what ends it before its time. */
export class Life {
  /** The outermost attempt, and the one that the loop runs in. */
  root: Attempt | undefined
  core: TurnAttempt | undefined
  /** How the run ends before its time, if it does; the first abort or block stays. */
  end: (Ending & { kind: EndKind }) | undefined
  /** The outermost layer has returned: how the run ends is decided. */
  decided = false
  readonly grace: Grace
  readonly #turn: Turn
  readonly #cancel = new Cancel()
  /** The outermost attempts of the calls that run inside the loop. */
  #live: Attempt[] | undefined
  /** Waits of the loop itself. */
  #waits: Set<Leave> | undefined
  #deadlines: Deadlines | undefined

  constructor(turn: Turn) {
    this.#turn = turn
    this.grace = new Grace(turn, this)
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
  pass(): unknown {
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
    if (this.#live === undefined) this.#live = [root]
    else this.#live.push(root)
    enter(root)
    return outcomeOf(root)
  }
  /** A call inside the loop has come to its end. */
  ended(root: Attempt): void {
    const live = this.#live
    if (live === undefined) return
    if (live.at(-1) === root) live.pop()
    else if (live.includes(root)) live.splice(live.indexOf(root), 1)
  }
  /** The outermost attempts that are open: those of the calls inside, then that of the turn. */
  open(): Attempt[] {
    const all = [...(this.#live ?? [])]
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
  until<T>(wait: PromiseLike<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const leave = (reason: unknown) => {
        this.#waits?.delete(leave)
        reject(reason)
      }
      if (this.isOver) {
        silence(wait)
        return reject(this.reason)
      }
      this.#waits ??= new Set()
      this.#waits.add(leave)
      wait.then(
        (value) => {
          this.#waits?.delete(leave)
          resolve(value)
        },
        (error) => leave(error),
      )
    })
  }

  /** The loop was left: what runs in it is, too; calls that have no result yet are cancelled. */
  leaveLoop(reason: unknown): void {
    for (const root of [...(this.#live ?? [])]) if (isOpen(root)) abandon(root, reason)
    for (const leave of this.#waits ?? []) leave(reason)
    this.#turn.view.seal()
  }

  abort(reason: unknown): never {
    const error = toAbortError(reason)
    this.cut('aborted', error)
    throw this.end?.error ?? error
  }
  block(reason: string, details: BlockOptions): never {
    const error = new BlockError(reason, details)
    this.cut('blocked', error)
    throw this.end?.error ?? error
  }
  fail(error: unknown): void {
    this.cut('failed', error)
  }
  /** Ends the run before its time: everything inside is cancelled, every layer unwinds. */
  cut(kind: EndKind, error: unknown): void {
    if (this.decided || (this.end !== undefined && (this.end.kind !== 'failed' || kind === 'failed'))) return
    this.#end(kind, error)
    this.grace.begin()
    // Who decides may still be on the stack.
    queueMicrotask(() => this.#failInside())
  }
  /** The same where no layer is left inside. */
  close(kind: EndKind, error: unknown): void {
    this.decided = true
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
    if (this.decided) return
    const error = this.end?.error
    for (const root of [...(this.#live ?? [])]) failInside(root, error)
    for (const leave of this.#waits ?? []) leave(error)
    if (this.root !== undefined && this.core?.$state !== State.running) failInside(this.root, error)
  }
}
