import type { Lease, SessionKey } from '@allium/core'
import type { AddedRun, ClaimedRun, ClaimQuery, EventLog, NewDurableRun, RunStore, SessionStore } from '@allium/store'
import { check } from '../check.ts'

/** A run store and the session store that belongs to it. */
export interface RunStoreParts {
  readonly runs: RunStore
  readonly sessions: SessionStore
  /** The event log of the same store. Without one, the case about the end of its events passes. */
  readonly events?: EventLog
}

/** The test bench of a case. */
export interface RunBench extends RunStoreParts {
  /** The same data as another process sees it; the parts themselves if they cannot be opened again. */
  other: RunStoreParts
  /** The duration of a lease, in milliseconds. */
  lease: number
  /** Lets time pass. */
  wait(ms: number): Promise<void>
}

/** The cases of one file by name. */
export type RunCases = Readonly<Record<string, (bench: RunBench) => Promise<void>>>

export const agents = [{ name: 'agent', version: '1' }] as const

export function runOf(run: string, key: SessionKey, more: Partial<NewDurableRun> = {}): NewDurableRun {
  return { run, key, agent: 'agent', version: '1', task: { input: run }, ...more }
}

/** Adds a run and claims it at once. */
export async function startRun(
  { runs, lease: ms }: RunBench,
  newRun: NewDurableRun,
): Promise<AddedRun & { lease: Lease }> {
  const { lease, ...added } = await runs.add(newRun, { claim: ms })
  check(
    lease !== undefined,
    `add() returns the lease of a run whose time has come and whose session is free (${newRun.run})`,
  )
  return { ...added, lease }
}

/** Claims the runs that this process may take. */
export function claim({ lease: ms }: RunBench, runs: RunStore, more: Partial<ClaimQuery> = {}) {
  return runs.claim({ agents, limit: 10, ms, alone: true, ...more })
}

export function namesOf(claimed: readonly ClaimedRun[]): string[] {
  return claimed.map(({ run }) => run.run)
}

/** Returns the status of a run. */
export async function statusOf({ runs }: RunStoreParts, { key, run }: Pick<NewDurableRun, 'key' | 'run'>) {
  return (await runs.get({ tenant: key.tenant, run }))?.status
}
