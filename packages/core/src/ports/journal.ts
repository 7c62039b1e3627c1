import type { Lease } from './session-store.ts'

/** Receives one item of a step, such as a model chunk. If it returns a promise, the step waits for it. */
export type Emit<C> = (item: C) => void | PromiseLike<void>

/**
 * Every physical model call and tool execution runs through `step`, inside all layers. A durable engine records the items and
 * the result of each step. On replay, it returns them without running the step.
 */
export interface Journal {
  /**
   * The lease under which it records, if it is also the session's lease. The layer that stores the session writes under it and
   * acquires none of its own. The recorded steps then replace checkpoints of the run.
   */
  readonly lease?: Lease | undefined
  /** Whether another process continues the run. Then the outcome in this process is not final and is not stored. @default false */
  readonly takenOver?: boolean | undefined
  /**
   * Whether it may return recorded steps, so that they must be compared with those of this run. A journal that only watches sets `false`:
   * then the steps need no fingerprints, and the first chunk does not wait for one. @default true
   */
  readonly compares?: boolean | undefined
  /**
   * @param id unique in the run and equal on replay, such as `turn:model:0:1`
   * @param work the step; it passes its items to `emit` in order
   * @param layer the layer whose `ctx.once()` it is; undefined for other steps
   */
  step<T, C>(id: string, work: (emit: Emit<C>) => T | PromiseLike<T>, emit: Emit<C>, layer?: string): T | PromiseLike<T>
  /** Whether a step is recorded. Without this function, a replayed run does not receive the messages that arrived while it ran. */
  known?(id: string): boolean | PromiseLike<boolean>
  /**
   * Called when a turn ends, in any way. A journal throws if the turn does not fit its recording. Then the turn fails and is not stored.
   *
   * @throws AlliumError `journal.diverged`
   */
  checkEnd?(turnId: string): void
}

const direct: Journal['step'] = (_id, work, emit) => work(emit)

/** The `emit` of a step without items. */
export const noItems = (): void => {}

/** The default: runs each step and records nothing. */
export const directJournal: Journal = { step: direct, compares: false }

/** Whether the journal runs steps directly, so that its callers can skip the extra promise. */
export function isDirect({ step }: Journal): boolean {
  return step === direct
}

/** Whether a step was cancelled with its run. Such a step is not recorded, because its outcome is unknown. */
export function isCancellation(error: unknown): boolean {
  return (error as { name?: unknown } | undefined)?.name === 'AbortError'
}
