import type { Agent, SessionKey, Snapshot, Usable } from '@allium/core'
import type { RecordedTurn } from '../recorded-turn.ts'
import type { ReplayedTurn, ReplayMode, ReplayReport } from './replayed-turn.ts'

/** A recorded turn with the session that it began with, as `readRecordings()` returns it. */
export interface TurnToReplay {
  readonly key: SessionKey
  readonly turnId: string
  readonly recorded: RecordedTurn
  /** The session before the turn. */
  readonly before: Snapshot
}

export interface ReplayOptions {
  /** The changed agent. It must not have run yet, because the replay adds a layer to it. Dispose it afterward. */
  readonly agent: Agent<never> | Agent
  readonly turns: Iterable<TurnToReplay> | AsyncIterable<TurnToReplay>
  /** @default 'pinned' */
  readonly mode?: ReplayMode | undefined
  /** The names of layers to leave out: their turn, model and tool hooks only call next(). @default none */
  readonly without?: readonly string[] | undefined
  /** The layers for turns that were recorded with the option `use`, by name. @default such turns are not replayable */
  readonly use?: readonly Usable[] | undefined
  /** How many turns that differ or are not replayable the report has. @default 1_000 */
  readonly keep?: number | undefined
  /** Called after each turn, also for equal ones. */
  onTurn?(turn: ReplayedTurn): void | Promise<void>
  /** Ends the replay after the current turn. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Runs recorded turns through a changed agent. Models and tools answer from the recording: no model is called, and no tool's code runs.
 *
 * @throws AlliumError `options.invalid`, `agent.started`
 * @example
 * const report = await replay({ agent, turns: readRecordings({ recordings: store.recordings, sessions: store.sessions, agent: 'support' }) })
 */
export type Replay = (options: ReplayOptions) => Promise<ReplayReport>
