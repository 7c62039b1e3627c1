import type { ClaimedRun, RunningAgent } from '@allium/store'
import type { Host } from '../host/host.ts'
import type { Isolation } from './isolation.ts'
import type { Places } from './places.ts'

/** Most orphans per query. */
const maxOrphans = 50

/** Claims runs in the store for this process. Estimates how many due runs are left. */
export class Claims {
  readonly #host: Host
  readonly #places: Places
  readonly #isolation: Isolation
  /** Due runs that this process could not claim, because it had no place or their session was in use. Others may have claimed them since. */
  #backlog = 0

  constructor(host: Host, places: Places, isolation: Isolation) {
    this.#host = host
    this.#places = places
    this.#isolation = isolation
  }

  get hasBacklog(): boolean {
    return this.#backlog > 0
  }
  /** A due run was not claimed. */
  addToBacklog(): void {
    this.#backlog++
  }
  clearBacklog(): void {
    this.#backlog = 0
  }

  /** The agents whose runs this process continues. */
  get agents(): RunningAgent[] {
    const { names, versions } = this.#host.code
    return names.flatMap((name) => versions.map((version) => ({ name, version })))
  }

  /** Claims due runs. A suspected run is claimed only if nothing else is due. */
  async due(limit: number, { waitingOnly }: { waitingOnly: boolean }): Promise<ClaimedRun[]> {
    const { stores, queues, limits, worker } = this.#host
    const claimable = queues.toClaim((queue) => this.#places.executing(queue))
    const query = { agents: this.agents, ms: limits.lease, worker, waitingOnly, queues: claimable }
    const claimed = await stores.runs.claim({ ...query, limit, alone: false })
    this.#backlog = Math.max(claimed.length === limit ? 1 : 0, this.#backlog - claimed.length)
    if (waitingOnly) return claimed
    const isIdle = this.#places.isIdle && claimed.length === 0
    if (this.#isolation.mayClaim({ isIdle, hasRoom: claimed.length < limit }))
      claimed.push(...(await stores.runs.claim({ ...query, limit: 1, alone: true })))
    return claimed
  }

  /** Claims runs of versions that no process claims, to fail them. */
  orphans(): Promise<ClaimedRun[]> {
    const { lease, orphanAfter } = this.#host.limits
    return this.#host.stores.runs.orphans({ agents: this.agents, ms: orphanAfter, lease, limit: maxOrphans })
  }
}
