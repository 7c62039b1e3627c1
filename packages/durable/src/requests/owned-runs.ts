import { AlliumError } from '@allium/core'
import type { DurableRun } from '@allium/store'
import type { Host } from '../host/host.ts'
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

/** The runs of the agent, each for the principal that owns it. */
export class OwnedRuns {
  readonly #host: Pick<Host, 'code' | 'stores'>
  readonly #worker: Worker

  constructor(host: Pick<Host, 'code' | 'stores'>, worker: Worker) {
    this.#host = host
    this.#worker = worker
  }

  /** @throws AlliumError `session.not_found`, also for a run of another owner or agent */
  async find(run: string, principal: unknown): Promise<DurableRun> {
    const { tenant, owner } = this.#ownerOf(principal)
    const found = await this.#host.stores.runs.get({ tenant, run })
    if (found !== undefined && found.key.owner === owner && this.#host.code.names.includes(found.agent)) return found
    throw new AlliumError(
      'session.not_found',
      `There is no run "${run}" of this principal. Check its id, tenant and owner.`,
    )
  }

  /** Returns a run that this process executes, if the principal owns it. */
  findLive(run: string, principal: unknown): DurableRun | undefined {
    const live = this.#worker.find(run)
    if (live === undefined) return undefined
    const { tenant, owner } = this.#ownerOf(principal)
    return live.key.tenant === tenant && live.key.owner === owner ? live : undefined
  }

  #ownerOf(principal: unknown) {
    return this.#host.code.agent.session({ principal: principal as never }).key
  }
}
