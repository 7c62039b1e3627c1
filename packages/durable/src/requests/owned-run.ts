import { AlliumError } from '@allium/core'
import type { DurableRun } from '@allium/store'
import type { AgentCode } from '../host/host.ts'
import type { Worker } from '../worker/worker.ts'

/** A run that is stored and will be executed. */
export interface StartedRun {
  readonly run: string
  readonly turnId: string
  readonly sessionId: string
}

export interface RunAccess {
  readonly principal?: unknown
}

/** @throws AlliumError `session.not_found`, also for a run of another owner or agent */
export async function ownedRun({ host }: Worker, run: string, principal: unknown): Promise<DurableRun> {
  const { tenant, owner } = ownerOf(host, principal)
  const found = await host.runs.get({ tenant, run })
  if (found !== undefined && found.key.owner === owner && host.names.includes(found.agent)) return found
  throw new AlliumError(
    'session.not_found',
    `There is no run "${run}" of this principal. Check its id, tenant and owner.`,
  )
}

/** Returns a run that this process executes, if the principal owns it. */
export function ownedLiveRun(worker: Worker, run: string, principal: unknown): DurableRun | undefined {
  const live = worker.find(run)
  if (live === undefined) return undefined
  const { tenant, owner } = ownerOf(worker.host, principal)
  return live.key.tenant === tenant && live.key.owner === owner ? live : undefined
}

function ownerOf({ agent }: AgentCode, principal: unknown) {
  return agent.session({ principal: principal as never }).key
}
