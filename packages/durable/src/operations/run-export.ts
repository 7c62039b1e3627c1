import type { StoredTurn } from '@allium/core'
import type { RecordedStep, RunSummary } from '@allium/store'
import type { OperationsStore } from './options.ts'
import { runNotFound } from './run-not-found.ts'
import { type ShownRun, shownRun } from './shown-run.ts'

/** Most timeline entries of an export. */
const maxEntries = 100_000

/** All data of a run, with its content. `toJson` of `@allium/core` serializes it, including bytes. */
export interface ExportedRun extends ShownRun {
  readonly format: 'allium-run/1'
  /** Why the run was given up. */
  readonly reason?: string
  /** The reason of the stop request. */
  readonly stop?: string
  /** The stored request: input or decisions, principal, context. Undefined after the run has ended and cannot be retried. */
  readonly task: unknown
  /** The recorded steps. Empty after the run has ended with a turn. */
  readonly steps: readonly RecordedStep[]
  /** The turn with its messages, without the state of its session. Undefined until the run has ended with a turn. */
  readonly turn: Omit<StoredTurn, 'rest'> | undefined
}

/** Reads a run that was found before. */
export async function exportRun(
  { runs, sessions, operations }: OperationsStore,
  { key, run }: Pick<RunSummary, 'key' | 'run'>,
): Promise<ExportedRun> {
  const scope = { tenant: key.tenant, run }
  const [described, stored, steps, turn] = await Promise.all([
    operations.describe({ ...scope, limit: maxEntries }),
    runs.get(scope),
    operations.steps(scope),
    sessions.find(key, { turnId: run }),
  ])
  if (described === undefined || stored === undefined) throw runNotFound(run)
  const { task, reason, stop } = stored
  const why = { ...(reason !== undefined && { reason }), ...(stop !== undefined && { stop }) }
  return { format: 'allium-run/1', ...shownRun(described), ...why, task, steps, turn: turn && withoutState(turn) }
}

/** The state has the tokens of pending calls, with which anyone could decide them. */
function withoutState({ rest: _, ...turn }: StoredTurn): Omit<StoredTurn, 'rest'> {
  return turn
}
