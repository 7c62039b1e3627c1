import type { ClaimedRun } from '@allium/store'
import type { AgentCode, Host, Stores } from '../host/host.ts'
import type { Limits } from '../options.ts'
import type { Places } from './places.ts'

/** Most orphans per query. */
const maxOrphans = 50

/** Claims due runs. A suspected run is claimed only if nothing else is due. */
export async function claimDue(
  { agents, runs, queues, lease, worker }: Pick<Host, 'agents' | 'runs' | 'queues' | 'lease' | 'worker'>,
  places: Places,
  { limit, waitingOnly }: { limit: number; waitingOnly: boolean },
): Promise<ClaimedRun[]> {
  const claimable = queues.toClaim((queue) => places.executing(queue))
  const query = { agents, ms: lease, worker, waitingOnly, queues: claimable }
  const claimed = await runs.claim({ ...query, limit, alone: false })
  places.backlog = Math.max(claimed.length === limit ? 1 : 0, places.backlog - claimed.length)
  if (!waitingOnly && places.maySuspect(claimed.length, limit))
    claimed.push(...(await runs.claim({ ...query, limit: 1, alone: true })))
  return claimed
}

/** Claims runs of versions that no process claims, to fail them. */
export function claimOrphans({ agents, runs, lease, orphanAfter }: AgentCode & Stores & Limits): Promise<ClaimedRun[]> {
  return runs.orphans({ agents, ms: orphanAfter, lease, limit: maxOrphans })
}

/** Moves a run that began under a former name of its agent to the current name, with its session. */
export async function underCurrentName(host: AgentCode & Stores, claimed: ClaimedRun): Promise<ClaimedRun> {
  const { run, lease } = claimed
  const [agent = run.key.agent] = host.agent.sessionNames
  if (agent === run.key.agent) return claimed
  const key = { ...run.key, agent }
  if (!(await host.sessions.rename(key, [run.key.agent], { lease }))) return claimed
  return { run: { ...run, key }, lease: { ...lease, key } }
}
