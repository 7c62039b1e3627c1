import type { ServedAgent } from '../options.ts'
import type { FairShare, Holder, Place } from './fair-share.ts'

/** The requests that are being answered, each in the share of its user. */
export class Visitors {
  readonly #agents: ReadonlyMap<string, ServedAgent>
  readonly #share: FairShare
  /** Undefined for one that was answered: its stream may still go on. */
  readonly #places = new WeakMap<Request, Place | undefined>()

  constructor(agents: ReadonlyMap<string, ServedAgent>, share: FairShare) {
    this.#agents = agents
    this.#share = share
  }

  /** Once for each request. @throws AlliumError `server.limit`, `server.full` */
  enter(request: Request, principal: unknown): void {
    if (this.#places.has(request)) return
    const holder = this.#holderOf(principal)
    if (holder !== undefined) this.#places.set(request, this.#share.take(holder))
  }

  leave(request: Request): void {
    this.#places.get(request)?.release()
    this.#places.set(request, undefined)
  }

  /** Undefined for a principal that no session can belong to: it is refused as that. */
  #holderOf(principal: unknown): Holder | undefined {
    const [agent] = this.#agents.values()
    try {
      return agent?.session({ principal: principal as never }).key
    } catch {
      return undefined
    }
  }
}
