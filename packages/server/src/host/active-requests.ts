import type { FairShare, Holder, Permit } from '../http/fair-share.ts'
import type { ServedAgent } from '../options/options.ts'

/** The requests in progress, each in the share of its user. */
export class ActiveRequests {
  readonly #agents: ReadonlyMap<string, ServedAgent>
  readonly #share: FairShare
  /** Undefined for a request that was answered. Its stream may still be open. */
  readonly #permits = new WeakMap<Request, Permit | undefined>()

  constructor(agents: ReadonlyMap<string, ServedAgent>, share: FairShare) {
    this.#agents = agents
    this.#share = share
  }

  /** Acquires one permit per request. @throws AlliumError `server.limit`, `server.full` */
  acquire(request: Request, principal: unknown): void {
    if (this.#permits.has(request)) return
    const holder = this.#holderOf(principal)
    if (holder !== undefined) this.#permits.set(request, this.#share.acquire(holder))
  }

  release(request: Request): void {
    this.#permits.get(request)?.release()
    this.#permits.set(request, undefined)
  }

  /** Returns undefined for a principal that no session can belong to. The request is rejected for that later. */
  #holderOf(principal: unknown): Holder | undefined {
    const [agent] = this.#agents.values()
    try {
      return agent?.session({ principal: principal as never }).key
    } catch {
      return undefined
    }
  }
}
