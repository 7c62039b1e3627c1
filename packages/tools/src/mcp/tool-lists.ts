import type { CacheScope, Tool } from '@modelcontextprotocol/client'

interface ToolList {
  readonly tools: readonly Tool[]
  readonly staleAt: number
}

/** For how long the server says that its list holds, and for whom. */
export interface Freshness {
  /** In milliseconds. */
  readonly ttlMs: number
  readonly scope: CacheScope
}

/** The lists of tools that still hold by what the server says of them (`ttlMs`, `cacheScope`): one connection's own, and the public one. */
export class ToolLists {
  #own: ToolList | undefined
  readonly #public: { list?: ToolList | undefined }

  constructor(shared: { list?: ToolList | undefined } = {}) {
    this.#public = shared
  }

  /** Returns those of another connection to the server. */
  forAnother(): ToolLists {
    return new ToolLists(this.#public)
  }

  fresh(now: number): readonly Tool[] | undefined {
    return [this.#own, this.#public.list].find((list) => list !== undefined && now < list.staleAt)?.tools
  }

  /** Whether the list held once and no longer does. A list that never held is not listed again. */
  isStale(now: number): boolean {
    return this.#own !== undefined && this.fresh(now) === undefined
  }

  store(tools: readonly Tool[], { ttlMs, scope }: Freshness, now: number): void {
    const list = ttlMs > 0 ? { tools, staleAt: now + Math.min(ttlMs, maxTtl) } : undefined
    this.#own = list
    this.#public.list = scope === 'public' ? list : undefined
  }
}

/** A day. */
const maxTtl = 86_400_000
