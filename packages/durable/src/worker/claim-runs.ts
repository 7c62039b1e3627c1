import type { ClaimedRun } from '@allium/store'
import type { Host } from '../host/host.ts'
import type { Places } from './places.ts'

/** Most orphans per query. */
const maxOrphans = 50

/** Claims due runs. A suspected run is claimed only if nothing else is due. */
export async function claimDue(
  { code, stores, queues, limits, worker }: Host,
  places: Places,
  { limit, waitingOnly }: { limit: number; waitingOnly: boolean },
): Promise<ClaimedRun[]> {
  const claimable = queues.toClaim((queue) => places.executing(queue))
  const query = { agents: code.agents, ms: limits.lease, worker, waitingOnly, queues: claimable }
  const claimed = await stores.runs.claim({ ...query, limit, alone: false })
  places.backlog = Math.max(claimed.length === limit ? 1 : 0, places.backlog - claimed.length)
  if (!waitingOnly && places.maySuspect(claimed.length, limit))
    claimed.push(...(await stores.runs.claim({ ...query, limit: 1, alone: true })))
  return claimed
}

/** Claims runs of versions that no process claims, to fail them. */
export function claimOrphans({ code, stores, limits }: Host): Promise<ClaimedRun[]> {
  const { lease, orphanAfter } = limits
  return stores.runs.orphans({ agents: code.agents, ms: orphanAfter, lease, limit: maxOrphans })
}

/** Moves a run that began under a former name of its agent to the current name, with its session. */
export async function underCurrentName({ code, stores }: Host, claimed: ClaimedRun): Promise<ClaimedRun> {
  const { run, lease } = claimed
  const [agent = run.key.agent] = code.agent.sessionNames
  if (agent === run.key.agent) return claimed
  const key = { ...run.key, agent }
  if (!(await stores.sessions.rename(key, [run.key.agent], { lease }))) return claimed
  return { run: { ...run, key }, lease: { ...lease, key } }
}
