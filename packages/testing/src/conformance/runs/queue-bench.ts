import type { ClaimedRun, ClaimQueue, RunStore } from '@allium/store'
import { chat, turnOf } from '../store/bench.ts'
import { claim, type RunBench, runOf } from './run-bench.ts'

/** The queue of all cases. */
export const queue = 'emails'

/** Adds a run that waits, in its own session. */
export async function addWaiting(
  { runs }: RunBench,
  run: string,
  more: { tenant?: string; priority?: number; runAt?: number } = {},
) {
  const { tenant = 'acme', ...rest } = more
  return runs.add(runOf(run, { ...chat, tenant, sessionId: run }, { queue, ...rest }))
}

export async function addAll(bench: RunBench, names: readonly string[], tenant = 'acme'): Promise<void> {
  for (const name of names) await addWaiting(bench, name, { tenant })
}

/** Longer than any case, also on a busy machine. */
export const longLease = 600_000

/** Claims waiting runs only. */
export function claimFrom(
  bench: RunBench,
  store: RunStore,
  limits: Omit<ClaimQueue, 'name'> = {},
  limit = 10,
  ms = longLease,
) {
  return claim(bench, store, { limit, queues: [{ name: queue, ...limits }], waitingOnly: true, ms })
}

export function claimAny(bench: RunBench, store: RunStore, limits: Omit<ClaimQueue, 'name'>) {
  return claim(bench, store, { queues: [{ name: queue, ...limits }], ms: longLease })
}

export async function end({ sessions }: RunBench, ...claimed: readonly (ClaimedRun | undefined)[]): Promise<void> {
  for (const one of claimed)
    if (one !== undefined)
      await sessions.append(one.lease, 0, { ...turnOf(one.run.run), turnId: one.run.run }, { release: true })
}

export const numbered = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${i + 1}`)
