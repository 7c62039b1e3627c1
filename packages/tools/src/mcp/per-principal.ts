import { AlliumError, misconfigured, ownerOf, tenantOf } from '@allium/core'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { Connection } from './connection.ts'
import type { Caller, LinkSetup } from './link.ts'
import type { McpAuthProvider, McpPrincipalServer } from './server.ts'

/** The connection of one user. */
interface Place {
  readonly key: string
  readonly connection: Connection
  /** As the latest call had it: other fields than tenant and user may be newer. */
  principal: unknown
  calls: number
}

/** Keeps a connection for each tenant and user, no more than `max` at once: then the one that is idle longest goes, or a call waits. */
export class PerPrincipal {
  readonly #setup: Omit<LinkSetup, 'owner' | 'server'>
  readonly #server: McpPrincipalServer
  readonly #max: number
  /** The one that is idle longest stands first. */
  readonly #places = new Map<string, Place>()
  /** Whose an authProvider is. */
  readonly #owners = new WeakMap<McpAuthProvider, string>()
  #closing = 0
  #waiting: (() => void)[] = []
  #ended = false

  constructor(setup: Omit<LinkSetup, 'owner' | 'server'>, server: McpPrincipalServer) {
    this.#setup = setup
    this.#server = server
    this.#max = server.maxConnections ?? 100
  }

  /** @throws AlliumError `mcp.unauthorized` where the principal names no user, and what a {@link Connection} throws */
  async call(name: string, args: Record<string, unknown>, caller: Caller): Promise<CallToolResult> {
    const place = await this.#take(this.#keyOf(caller.principal), caller)
    try {
      return await place.connection.call(name, args, caller)
    } finally {
      this.#giveBack(place)
    }
  }

  async close(): Promise<void> {
    this.#ended = true
    await Promise.all([...this.#places.values()].map(({ connection }) => connection.close()))
    this.#wake()
  }

  #keyOf(principal: unknown): string {
    const user = ownerOf(principal)
    if (user !== undefined) return JSON.stringify([tenantOf(principal) ?? null, user])
    const { name } = this.#setup
    throw new AlliumError(
      'mcp.unauthorized',
      `The MCP server "${name}" is called for a user each, and the principal of this session has no userId.`,
      { expose: true, details: { server: name } },
    )
  }

  async #take(key: string, { signal, principal }: Caller): Promise<Place> {
    for (;;) {
      signal.throwIfAborted()
      if (this.#ended) throw new Error('The agent is disposed.')
      const place = this.#places.get(key) ?? this.#opened(key, principal)
      if (place !== undefined) {
        place.calls++
        place.principal = principal
        return place
      }
      const idle = [...this.#places.values()].find(({ calls }) => calls === 0)
      await (idle === undefined ? this.#turn(signal) : this.#close(idle))
    }
  }

  /** Undefined: there are too many. */
  #opened(key: string, principal: unknown): Place | undefined {
    if (this.#places.size + this.#closing >= this.#max) return undefined
    const server = this.#withOwnProvider(key)
    const setup = { ...this.#setup, server, owner: () => place.principal }
    const place: Place = { key, principal, calls: 0, connection: new Connection(setup, 'by calls alone') }
    this.#places.set(key, place)
    return place
  }

  #giveBack(place: Place): void {
    place.calls--
    if (place.calls > 0) return
    this.#places.delete(place.key)
    this.#places.set(place.key, place)
    this.#wake()
  }

  async #close(place: Place): Promise<void> {
    this.#places.delete(place.key)
    this.#closing++
    try {
      await place.connection.close()
    } finally {
      this.#closing--
      this.#wake()
    }
  }

  /** Until something has changed. */
  async #turn(signal: AbortSignal): Promise<void> {
    let wake = () => {}
    await new Promise<void>((resolve) => {
      wake = resolve
      this.#waiting.push(resolve)
      signal.addEventListener('abort', wake, { once: true })
    })
    signal.removeEventListener('abort', wake)
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }

  /** A provider keeps tokens: one that two users share would send those of one for the other. */
  #withOwnProvider(key: string): McpPrincipalServer {
    const { authProvider } = this.#server
    if (authProvider === undefined) return this.#server
    return {
      ...this.#server,
      authProvider: async (principal) => {
        const provider = await authProvider(principal)
        const owner = this.#owners.get(provider) ?? key
        if (owner !== key)
          throw misconfigured(
            `tools:mcp:${this.#setup.name}`,
            'has an authProvider that gives two users one object. Make one for each, with tokens of its own.',
          )
        this.#owners.set(provider, key)
        return provider
      },
    }
  }
}
