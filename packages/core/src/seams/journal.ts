import type { Lease } from './session-store.ts'

/** Takes one item of a step, such as a model chunk; a promise asks the step to wait. */
export type Emit<C> = (item: C) => void | PromiseLike<void>

/**
 * Every physical model call and tool execution goes through `step`, below all layers. A durable engine records what a
 * step emitted and gave, and on replay gives it again without running it.
 */
export interface Journal {
  /**
   * The right under which it records, where that is the session's, too: who stores the session writes under it, and takes none of
   * its own. Its steps are the record then, and the run is not checkpointed.
   */
  readonly lease?: Lease | undefined
  /** Whether the run goes on elsewhere: what it comes to here is not its end, and nobody stores it. @default false */
  readonly lost?: boolean | undefined
  /**
   * @param id unique in the run and equal on replay, such as `turn:model:0:1`
   * @param work the step; what it emits goes to `emit` in order
   */
  step<T, C>(id: string, work: (emit: Emit<C>) => T | PromiseLike<T>, emit: Emit<C>): T | PromiseLike<T>
  /** Whether a step is recorded. Without it a run that is replayed does not hear again what came while it ran. */
  known?(id: string): boolean | PromiseLike<boolean>
}

const direct: Journal['step'] = (_id, work, emit) => work(emit)

/** The default: runs each step, keeps nothing. */
export const directJournal: Journal = { step: direct }

/** Whether nothing is between a step and who runs it, so that its promise would only be awaited. */
export function isDirect({ step }: Journal): boolean {
  return step === direct
}

/** A step that was cancelled with its run is not recorded: nobody knows what it would have come to. */
export function isCancellation(error: unknown): boolean {
  return (error as { name?: unknown } | undefined)?.name === 'AbortError'
}
