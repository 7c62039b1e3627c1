import type { Stage } from '../stream/stage.ts'
import type { Sink, Transforms } from '../stream/transforms.ts'
import type { Cancel } from './cancel.ts'
import type { Hook, ScopeName } from './hook.ts'

/** The states of an attempt. In the first three it is open: its caller's next() has not settled. */
export const State = {
  running: 0,
  /** Its layer has returned. The layer's stream is still being flushed outward. */
  flushing: 1,
  /** It has failed. The content that its pipes hold back is still being flushed outward. */
  draining: 2,
  done: 3,
  failed: 4,
  /** Its caller stopped waiting for it. */
  abandoned: 5,
} as const

/** Ends every layer, even if a layer swallows the error: an abort, a block or a sticky failure. */
export interface Ending {
  readonly error: unknown
}

/** One call through the onion of one scope: the state that all its attempts share. A retry does not reset it. */
export interface Call {
  readonly ring: Ring
  readonly hooks: readonly Hook[]
  /** The number of attempts so far. */
  attempts: number
  /** The attempt of the enclosing scope that this call belongs to. */
  readonly outer: Attempt | undefined
  /** Set once the run has to end. Every next() then rejects with its error. */
  readonly end: Ending | undefined
  /** The outermost attempt has settled, or its caller stopped waiting for it. */
  settled(root: Attempt): void
  /** These layers were abandoned while they were running. */
  abandoned(layers: readonly Attempt[]): void
  /** A layer of an abandoned attempt has returned. @param thrown the error it threw, or the reason it was abandoned */
  returned(layer: Attempt, thrown: unknown): void
  /** A layer called `verb` when it no longer has an effect. */
  late(attempt: Attempt, verb: string): void
}

/** The behavior of one scope, in the order in which next() uses it. There is one constant per scope. */
export interface Ring<A extends Attempt = Attempt, C extends Call = Call> {
  readonly scope: ScopeName
  /** Whether next() may be called again after it rejected. */
  readonly reentrant: boolean
  /** Creates an attempt. It is the context of the layer that runs in it, or of the core. */
  create(call: C, caller: A | undefined, number: number, cancel: Cancel): A
  /** Returns the sticky result that next() returns at once, if there is one. */
  shortCircuit?(attempt: A): unknown
  /** Returns the error if a layer may not open another attempt, otherwise undefined. */
  mayRetry?(caller: A): unknown
  /** Returns a promise if the caller has to wait before its first attempt starts. */
  admit?(caller: A): Promise<void> | undefined
  /** Copies what an attempt takes from its caller, before it starts. */
  enter?(caller: A, inner: A): void
  /** Runs the core, inside the innermost next(). It calls `succeed` or `fail`, now or later. */
  run(attempt: A): void
  /** Converts a layer's return value to a result, or a promise of one. */
  toResult(attempt: A, value: unknown): unknown
  /** Returns the value that the caller's next() resolves with, or a promise of it. */
  deliver?(caller: A, inner: A, value: unknown): unknown
  /** Copies the changes of the inner layers to the caller. */
  commit?(caller: A, inner: A): void
  /** Discards the stream content that the layer held back, after the attempt failed or was abandoned. */
  rollback?(attempt: A): void
  /** Cancels the work that the core of an attempt is still doing. */
  cancel?(run: A, reason: unknown): void
}

/**
 * One attempt, opened by one next(), for the layer inside or for the core. It is also that layer's context. It holds
 * what the caller passed in and the changes made in it. Changes made inside do not reach the outer attempts until
 * `commit`.
 * Fields start with `$` to tell them apart from the members that layers see.
 */
export abstract class Attempt<C extends Call = Call> {
  $state: number = State.running
  /** The last attempt that this layer's next() opened. */
  $inner: Attempt | undefined = undefined
  /** The layer has returned or thrown. */
  $exited = false
  /** Where its stream goes. */
  $sink: Sink | undefined = undefined
  /** Applies this layer's transforms to the stream of the attempt it opened last. */
  $stage: Stage | undefined = undefined
  /** The work its core is doing: a provider call or a wait. */
  $work: { abandon(reason: unknown): void } | undefined = undefined
  /** The stream transforms that its layer registered. */
  $transforms: Transforms | undefined = undefined
  /** Its result or its error. */
  $outcome: unknown = undefined
  /** The promise that its caller's next() returned, while the attempt is open, and its resolvers. */
  $promise: Promise<unknown> | undefined = undefined
  $resolve: ((value: unknown) => void) | undefined = undefined
  $reject: ((error: unknown) => void) | undefined = undefined
  /** Disconnects it from the signal that narrowed it. */
  $release: (() => void) | undefined = undefined
  /** The attempt failed because the run ended. Its layers' side effects still count while they unwind. */
  $exempt = false
  /** Its core's work has timed out, so it no longer has an effect. */
  $timedOut = false
  /** The attempt that a fork copies. */
  $real: Attempt | undefined = undefined
  /** The late verbs that have been reported. */
  $reportedLate: Set<string> | undefined = undefined
  /** Its position in the onion, counted from the outside. */
  readonly $index: number
  /** The layer that runs in it. Undefined for the core. */
  readonly $hook: Hook | undefined

  constructor(
    readonly $call: C,
    readonly $caller: Attempt | undefined,
    /** Counts the attempts of the call from 1. A layer's first next() inherits its caller's number. */
    readonly $number: number,
    /** The cancellation scope that it runs in. */
    public $cancel: Cancel,
  ) {
    this.$index = $caller === undefined ? 0 : $caller.$index + 1
    this.$hook = $call.hooks[this.$index]
  }

  /** The name of the layer or the core, for messages. */
  get $name(): string {
    return this.$hook?.name ?? 'core'
  }

  /** Whether an action has no effect because the attempt failed, was abandoned or is a fork. Reports it if so. */
  $isLate(verb: string): boolean {
    if (this.$real === undefined && !isLate(this)) return false
    this.$call.late(this, verb)
    return true
  }
}

export function isOpen({ $state }: Attempt): boolean {
  return $state <= State.draining
}

/** Whether an attempt has failed or was abandoned. */
export function isOver({ $state }: Attempt): boolean {
  return $state === State.draining || $state > State.done
}

/**
 * Whether actions in this attempt no longer have an effect, because it or an enclosing attempt failed, timed out or was
 * abandoned.
 */
export function isLate(attempt: Attempt): boolean {
  if (attempt.$state <= State.flushing && attempt.$hook?.levelsUp === undefined && !attempt.$timedOut) return false
  for (let at: Attempt | undefined = attempt; at !== undefined; at = at.$caller ?? at.$call.outer)
    if ((isOver(at) && !at.$exempt) || at.$timedOut) return true
  return false
}
