import type { Input } from '../messages/message.ts'
import type { Snapshot } from '../state/snapshot.ts'
import type { Clock } from './clock.ts'
import type { Journal } from './journal.ts'
import type { StoredTurn } from './session-store.ts'

/** A run of a session, for the functions that wrap it: `aroundRun(ctx, wrapper)`. */
export interface WrappedRun {
  /**
   * `run` for a turn, `rewind` for a session that returns to an earlier turn, `close` for changes that session layers
   * made while the session closed.
   */
  readonly kind: 'run' | 'rewind' | 'close'
  /** The id of the run. Valid once the session matches the store. */
  readonly turnId: string
  /** Whether the caller passed the id. Then the run may have ended before, and is answered with that result. */
  readonly given: boolean
  /**
   * The journal of its steps. A wrapper may replace it before next(), for example with one that watches the steps and forwards all
   * else. Undefined for a rewind and a closing session.
   */
  journal?: Journal | undefined
  /** A clock that replaces the run's. For a wrapper that watches the time. Set it before next(). */
  clock?: Clock | undefined
  /** What was requested: the input or the decisions, and the options, as the caller passed them. */
  readonly task?: { readonly input: Input; readonly decisions: unknown; readonly options: object } | undefined
  /** The idempotency key of the run, with the digest of its input. */
  readonly idempotencyKey?: string | undefined
  readonly inputDigest?: string | undefined
  /** Aborts when the run is aborted before its turn starts. From then on every `next()` rejects with the reason. */
  readonly signal: AbortSignal
  /** Returns the session as it is before the run, once it matches the store. Call it before next(). */
  before(): Snapshot
  /** Ends the run. For a wrapper that can no longer store it. */
  abort(reason: unknown): void
}

/**
 * Wraps a run. `next()` runs it and resolves with its turn when the history and the state are final, whatever the
 * status. It rejects only if the run never began, if another process continues it, or if a wrapper inside fails. Call
 * it once, and return its turn, or return a stored turn in its place. If the wrapper throws, the run fails.
 */
export type AroundRun = (run: WrappedRun, next: () => Promise<StoredTurn>) => StoredTurn | Promise<StoredTurn>

/** A step of a turn, for the functions that wrap it: `aroundStep(ctx, wrapper)`. */
export interface WrappedStep {
  readonly index: number
  /** Whether it is the rest of a suspended step: the calls that were decided. */
  readonly resumed: boolean
  /** How many of the run's messages are the same as at the step before. */
  readonly unchanged: number
  /** The run as it is now, with the status `running`, without its first `unchanged` messages. Each read takes a new snapshot. */
  readonly turn: StoredTurn
}

/**
 * Wraps a step: one model call and its tool calls. The messages for the step are in the history already. If the wrapper
 * throws, the run fails.
 */
export type AroundStep = (step: WrappedStep, next: () => Promise<void>) => void | Promise<void>

/** Returns a stored run of the session by its id. */
export type FindTurn = (turnId: string) => StoredTurn | undefined | Promise<StoredTurn | undefined>
