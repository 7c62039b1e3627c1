import { AbortError, toAbortError } from '../errors/abort-error.ts'
import { BlockError, type BlockOptions } from '../errors/block-error.ts'
import { silence } from '../errors/thenable.ts'
import { abandon, reject } from '../onion/abandon.ts'
import { type Attempt, type Call, type Ending, isOpen, isOver, State } from '../onion/attempt.ts'
import { Cancel } from '../onion/cancel.ts'
import { enter } from '../onion/next.ts'
import { failInside, outcomeOf } from '../onion/outcome.ts'
import { Deadlines } from '../ports/deadlines.ts'
import type { SessionScope } from '../session/scope/session-scope.ts'
import type { RunEvents } from '../stream/event-queue.ts'
import { GracePeriod } from './grace-period.ts'
import type { Transcript } from './transcript.ts'
import type { EndKind } from './turn-options.ts'

type Abandon = (reason: unknown) => void

/** The turn that it ends. */
interface LifecycleHost extends Call {
  readonly hasEnded: boolean
  readonly location: { sessionId: string; turnId: string; stepIndex: number }
  readonly turnId: string
  readonly session: Pick<SessionScope, 'agent' | 'clock'>
  readonly events: RunEvents
  readonly transcript: Pick<Transcript, 'seal'>
}

/** Tracks everything that runs in a turn, from its outermost attempt inward, and ends the turn early. */
export class TurnLifecycle {
  /** The outermost attempt, and the attempt that the loop runs in. */
  root: Attempt | undefined
  core: Attempt | undefined
  /** Why the run ends early, if it does. The first abort or block wins. */
  end: (Ending & { kind: EndKind }) | undefined
  /** The outermost layer has returned, so `terminate` no longer has an effect. */
  isSettled = false
  readonly gracePeriod: GracePeriod
  readonly #turn: LifecycleHost
  readonly #cancel = new Cancel()
  /** The outermost attempts of the calls that run in the loop. */
  #openCalls: Attempt[] | undefined
  /** The pending waits of the loop itself. */
  #pending: Set<Abandon> | undefined
  #deadlines: Deadlines | undefined

  constructor(turn: LifecycleHost) {
    this.#turn = turn
    this.gracePeriod = new GracePeriod(turn, this)
  }

  /** The timers for tool timeouts and the grace period. */
  get deadlines(): Deadlines {
    return (this.#deadlines ??= new Deadlines(this.#turn.session.clock))
  }
  clearDeadlines(): void {
    this.#deadlines?.clear()
  }

  /** Runs the turn's onion. Settles when the outermost layer returns or the turn gives up on it. */
  start(): unknown {
    const root = this.#turn.ring.create(this.#turn, undefined, 1, this.#cancel)
    this.root = root
    enter(root)
    return outcomeOf(root)
  }
  /** Stops waiting for the layers. */
  giveUp(): void {
    if (this.root !== undefined) reject(this.root, this.end?.error)
  }

  /** Runs a call inside the loop and returns its result, or a promise of it. */
  run(call: Call): unknown {
    const root = call.ring.create(call, undefined, 1, this.core?.$cancel ?? this.#cancel)
    this.#openCalls ??= []
    this.#openCalls.push(root)
    enter(root)
    return outcomeOf(root)
  }
  /** A call inside the loop has settled. */
  ended(root: Attempt): void {
    const open = this.#openCalls
    if (open === undefined) return
    if (open.at(-1) === root) open.pop()
    else if (open.includes(root)) open.splice(open.indexOf(root), 1)
  }
  /** The outermost attempts that are open: those of the inner calls, then the turn's. */
  open(): Attempt[] {
    const all = [...(this.#openCalls ?? [])]
    if (this.root !== undefined) all.push(this.root)
    return all.filter(isOpen)
  }

  /** Whether the loop has to stop, because the run has ended or the layers abandoned it. */
  get isOver(): boolean {
    return this.end !== undefined || (this.core !== undefined && isOver(this.core))
  }
  /** Why the loop has to stop. */
  get reason(): unknown {
    return this.end === undefined ? this.core?.$outcome : this.end.error
  }

  throwIfOver(): void {
    if (this.end !== undefined || (this.core !== undefined && isOver(this.core))) throw this.reason
  }

  /** Waits for a promise in the loop. Rejects when the loop is over. */
  until<T>(promise: PromiseLike<T>): Promise<T> {
    return new Promise((resolve, rejectWait) => {
      const abandonWait = (reason: unknown) => {
        this.#pending?.delete(abandonWait)
        rejectWait(reason)
      }
      if (this.isOver) {
        silence(promise)
        return rejectWait(this.reason)
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

  /** The loop was abandoned. Abandons its calls and waits, and cancels calls without a result. */
  abandonLoop(reason: unknown): void {
    for (const root of [...(this.#openCalls ?? [])]) if (isOpen(root)) abandon(root, reason)
    for (const abandonWait of this.#pending ?? []) abandonWait(reason)
    this.#turn.transcript.seal()
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
  /** Ends the run early: cancels everything inside and unwinds every layer. */
  terminate(kind: EndKind, error: unknown): void {
    if (this.isSettled || (this.end !== undefined && (this.end.kind !== 'failed' || kind === 'failed'))) return
    this.#end(kind, error)
    this.gracePeriod.begin()
    // The layer that ends the run may still be on the stack.
    queueMicrotask(() => this.#failInside())
  }
  /** Ends the run after all layers have returned. */
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
