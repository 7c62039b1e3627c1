import type { AddedRun, ClaimedRun, Lease, NewDurableRun, RunStore, SessionKey, SessionStore } from '@allium/core'
import { check } from '../check.ts'

/** Runs, and the sessions beside which they are kept. */
export interface RunStoreParts {
  readonly runs: RunStore
  readonly sessions: SessionStore
}

/** What a case works with. */
export interface RunBench extends RunStoreParts {
  /** The same data as another process has them; the parts themselves where there is no way to open them again. */
  other: RunStoreParts
  /** Milliseconds of a lease. */
  lease: number
  /** Lets time pass. */
  wait(ms: number): Promise<void>
}

/** The cases of one file by their names. */
export type RunCases = Readonly<Record<string, (bench: RunBench) => Promise<void>>>

export const agents = [{ name: 'agent', version: '1' }] as const

export function runOf(run: string, key: SessionKey, more: Partial<NewDurableRun> = {}): NewDurableRun {
  return { run, key, agent: 'agent', version: '1', task: { input: run }, ...more }
}

/** Adds a run and takes it at once. */
export async function startRun(
  { runs, lease: ms }: RunBench,
  newRun: NewDurableRun,
): Promise<AddedRun & { lease: Lease }> {
  const { lease, ...added } = await runs.add(newRun, { claim: ms })
  check(
    lease !== undefined,
    `add() gives the lease of a run whose time has come and whose session is free (${newRun.run})`,
  )
  return { ...added, lease }
}

/** What this process may take. */
export function claim({ lease: ms }: RunBench, runs: RunStore, more: { limit?: number; alone?: boolean } = {}) {
  return runs.claim({ agents, limit: 10, ms, alone: true, ...more })
}

export function namesOf(claimed: readonly ClaimedRun[]): string[] {
  return claimed.map(({ run }) => run.run)
}

/** How a run stands. */
export async function statusOf({ runs }: RunStoreParts, { key, run }: Pick<NewDurableRun, 'key' | 'run'>) {
  return (await runs.get({ tenant: key.tenant, run }))?.status
}
