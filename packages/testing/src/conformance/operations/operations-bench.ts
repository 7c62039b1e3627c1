import type { RunOperations, TimelineEntry } from '@allium/store'
import { type RunBench, type RunStoreParts, runOf, startRun } from '../runs/run-bench.ts'
import { chat, turnOf } from '../store/bench.ts'

/** A run store with the port for its operators. */
export interface RunOperationsParts extends RunStoreParts {
  readonly operations: RunOperations
}

export interface OperationsBench extends RunBench, RunOperationsParts {
  other: RunOperationsParts
}

/** The cases of one file by name. */
export type OperationsCases = Readonly<Record<string, (bench: OperationsBench) => Promise<void>>>

export const named = (sessionId: string, tenant = 'acme') => ({ ...chat, tenant, sessionId })

/** Starts a run of a session of the same name, records a step, and ends it unless told otherwise. */
export async function finished(bench: OperationsBench, id: string, options: { tenant?: string } = {}): Promise<void> {
  const key = named(id, options.tenant)
  const { lease } = await startRun(bench, runOf(id, key))
  await bench.runs.record(lease, id, { id: `${id}:model:0`, body: 'answer' })
  await bench.sessions.append(lease, 0, { ...turnOf(id), turnId: id }, { release: true })
}

/** Starts a run and gives it up. */
export async function givenUp(bench: OperationsBench, id: string, code = 'run.failed'): Promise<void> {
  const { lease } = await startRun(bench, runOf(id, named(id)))
  await bench.runs.record(lease, id, { id: `${id}:model:0`, body: { secret: 'content' } })
  await bench.runs.giveUp(lease, id, { status: 'failed', code, reason: 'It failed.' })
}

/** Returns the entries without their times. */
export function withoutTimes(entries: readonly TimelineEntry[]): unknown[] {
  return entries.map(({ at: _, ...entry }) => entry)
}
