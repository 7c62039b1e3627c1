import type { DurableRun, RunStore } from '@allium/store'
import type { Host } from '../host/host.ts'
import type { LiveRun } from '../run/live-run.ts'

/** Renews the leases of the runs that this process executes. A run whose lease is gone stops here. */
export async function renewLeases(
  { runs, clock, lease }: Pick<Host, 'runs' | 'clock' | 'lease'>,
  live: readonly LiveRun[],
): Promise<void> {
  if (live.length === 0) return
  const checkAll = () => {
    for (const { state } of live) state.checkLease()
  }
  checkAll()
  const until = clock.monotonic() + lease
  const leases = live.map(({ state }) => state.claimed.lease)
  const renewed = await runs.renew(leases, lease).catch((error) => {
    checkAll()
    throw error
  })
  for (const [i, { state }] of live.entries())
    if (renewed[i] !== false) state.renew(until)
    // The turn of a run that has ended releases its lease, and its end is still to be reported here.
    else if (await isActive(runs, state.claimed.run)) state.loseLease('another process has taken over the run')
}

/** Whether a run may be executed by another process. */
async function isActive(runs: RunStore, { key, run }: DurableRun): Promise<boolean> {
  const current = await runs.get({ tenant: key.tenant, run })
  return current === undefined || current.status === 'queued' || current.status === 'running'
}
