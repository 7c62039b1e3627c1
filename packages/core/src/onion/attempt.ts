import type { Sink } from '../stream/sink.ts'
import type { Stage } from '../stream/stage.ts'
import type { Transforms } from '../stream/transforms.ts'
import type { Cancel } from './cancel.ts'
import type { Hook, ScopeName } from './hook.ts'

/** Where an attempt stands. The first three are open: its caller's next() has not settled. */
export const State = {
  running: 0,
  /** Its layer has returned; what that said still flows outward. */
  flushing: 1,
  /** It has failed; what its pipes hold back still flows outward. */
  draining: 2,
  done: 3,
  failed: 4,
  /** Its caller went on without it. */
  abandoned: 5,
} as const

/** What ends every layer, however it is swallowed: an abort, a block, a failure that sticks. */
export interface Ending {
  readonly error: unknown
}

/** One way through the onion of one scope. What its attempts share; none of them is set back in it. */
export interface Call {
  readonly ring: Ring
  readonly hooks: readonly Hook[]
  /** The attempts that were numbered so far. */
  attempts: number
  /** The attempt of the scope around it that it is part of. */
  readonly outer: Attempt | undefined
  /** What ends all layers now, if anything. */
  readonly end: Ending | undefined
  /** Its outermost attempt has come to its end, or whoever runs it waits for it no longer. */
  settled(root: Attempt): void
  /** Layers were left while they ran. */
  abandoned(layers: readonly Attempt[]): void
  /** A layer of a left attempt has come back. @param thrown what it threw, or why it was left */
  returned(layer: Attempt, thrown: unknown): void
  /** Something was tried that has no effect any more. */
  late(attempt: Attempt, verb: string): void
}

/** What a scope is: one constant for each. */
export interface Ring {
  readonly scope: ScopeName
  /** Whether next() may be called again after it rejected. */
  readonly reentrant: boolean
  /** An attempt, which is the context of the layer that stands in it, or of the core. */
  create(call: Call, caller: Attempt | undefined, number: number, cancel: Cancel): Attempt
  /** What a caller waits for before its first attempt begins, if anything. */
  admit?(caller: Attempt): Promise<void> | undefined
  /** Before an attempt begins: what it takes from its caller. */
  enter(caller: Attempt, inner: Attempt): void
  /** Why a layer may not open another attempt, if it may not. */
  mayRetry(caller: Attempt): unknown
  /** What the innermost next() runs; it calls `succeed` or `fail`, now or later. */
  run(attempt: Attempt): void
  /** The attempt has failed or was left: what its layer kept of the stream is void. */
  rollback(attempt: Attempt): void
  /** Closes what the core of an attempt still runs. */
  cancel(run: Attempt, reason: unknown): void
  /** The result that sticks, which next() gives at once. */
  shortCircuit(attempt: Attempt): unknown
  /** What a layer's return value means as a result, or a promise of it. */
  toResult(attempt: Attempt, value: unknown): unknown
  /** What next() of the caller gives, or a promise of it. */
  deliver(caller: Attempt, inner: Attempt, value: unknown): unknown
  /** The caller takes over what the inner layers left. */
  commit(caller: Attempt, inner: Attempt): void
}

/**
 * One attempt: what one next() opened, for the layer inside, or the core. It is that layer's context, too. It holds what its
 * caller gave it and what was changed in it; nothing that is inside reaches anything wider.
 *
 * Fields begin with `$` to stand apart from what layers see.
 */
export abstract class Attempt {
  $state: number = State.running
  /** The attempt that this layer's next() opened last. */
  $inner: Attempt | undefined = undefined
  /** The layer has returned or thrown. */
  $exited = false
  /** The place of the stream that it sends to. */
  $sink: Sink | undefined = undefined
  /** What its layer does to the stream of the attempt that it opened last. */
  $stage: Stage | undefined = undefined
  /** What its core runs: a physical call, a wait. */
  $work: { abandon(reason: unknown): void } | undefined = undefined
  /** What its layer asked to be done to the stream. */
  $transforms: Transforms | undefined = undefined
  /** What it came to: a value, or an error. */
  $outcome: unknown = undefined
  /** What its caller's next() gave, while the attempt is open, and how it settles. */
  $promise: Promise<unknown> | undefined = undefined
  $resolve: ((value: unknown) => void) | undefined = undefined
  $reject: ((error: unknown) => void) | undefined = undefined
  /** Unties it from the signal that narrowed it. */
  $release: (() => void) | undefined = undefined
  /** It was over because the run had ended: what its layers still do while they unwind counts. */
  $exempt = false
  /** Its core's work is past its time: what it still tries has no effect. */
  $timedOut = false
  /** What was tried too late, and told. */
  $reportedLate: Set<string> | undefined = undefined
  /** Its place in the onion of its call, from the outside. */
  readonly $index: number
  /** The layer that stands in it; the core has none. */
  readonly $hook: Hook | undefined

  constructor(
    readonly $call: Call,
    readonly $caller: Attempt | undefined,
    /** Counts the attempts of its call from 1; a layer's first next() inherits that of its caller. */
    readonly $number: number,
    /** The place of cancellation that it stands in. */
    public $cancel: Cancel,
  ) {
    this.$index = $caller === undefined ? 0 : $caller.$index + 1
    this.$hook = $call.hooks[this.$index]
  }
}

export function isOpen({ $state }: Attempt): boolean {
  return $state <= State.draining
}

/** Whether an attempt has failed or was left. */
export function isOver({ $state }: Attempt): boolean {
  return $state === State.draining || $state > State.done
}

/** Whether what is tried in an attempt has no effect any more: it, or one around it, has failed or was left. */
export function isLate(attempt: Attempt): boolean {
  if (attempt.$state <= State.flushing && attempt.$hook?.levelsUp === undefined && !attempt.$timedOut) return false
  for (let at: Attempt | undefined = attempt; at !== undefined; at = at.$caller ?? at.$call.outer)
    if ((isOver(at) && !at.$exempt) || at.$timedOut) return true
  return false
}
