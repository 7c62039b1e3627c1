import { AlliumError, misconfigured, ownerOf, tenantOf } from '@allium/core'
import type { CallToolResult, Tool } from '@modelcontextprotocol/client'
import type { Caller } from './callers.ts'
import { Connection } from './connection.ts'
import type { LinkSetup } from './link-setup.ts'
import type { InputNeeded } from './question.ts'
import type { McpAuthProvider, McpPrincipalServer } from './server.ts'

/** The connection of one user. */
interface PooledConnection {
  readonly key: string
  readonly connection: Connection
  /** The principal of the latest call; fields other than tenant and user may have changed. */
  principal: unknown
  calls: number
}

/** Keeps a connection per tenant and user, at most `max` at once. Above that, the longest idle one is closed, or a call waits. */
export class PerPrincipal {
  readonly #setup: Omit<LinkSetup, 'owner' | 'server'>
  readonly #server: McpPrincipalServer
  readonly #max: number
  /** Ordered by idle time; the longest idle comes first. */
  readonly #connections = new Map<string, PooledConnection>()
  /** The owner of each authProvider. */
  readonly #owners = new WeakMap<McpAuthProvider, string>()
  #closing = 0
  #waiters: (() => void)[] = []
  #isClosed = false

  constructor(setup: Omit<LinkSetup, 'owner' | 'server'>, server: McpPrincipalServer) {
    this.#setup = setup
    this.#server = server
    this.#max = server.maxConnections ?? 100
  }

  /** @throws AlliumError `mcp.unauthorized` when the principal has no user, and the errors of {@link Connection} */
  async call(tool: Tool, args: Record<string, unknown>, caller: Caller): Promise<CallToolResult | InputNeeded> {
    const pooled = await this.#acquire(this.#keyOf(caller.principal), caller)
    try {
      return await pooled.connection.call(tool, args, caller)
    } finally {
      this.#release(pooled)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#connections.values()].map(({ connection }) => connection.close()))
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

  async #acquire(key: string, { signal, principal }: Caller): Promise<PooledConnection> {
    for (;;) {
      signal.throwIfAborted()
      if (this.#isClosed) throw new Error('The agent is disposed.')
      const pooled = this.#connections.get(key) ?? this.#openNew(key, principal)
      if (pooled !== undefined) {
        pooled.calls++
        pooled.principal = principal
        return pooled
      }
      const idle = [...this.#connections.values()].find(({ calls }) => calls === 0)
      await (idle === undefined ? this.#waitForChange(signal) : this.#close(idle))
    }
  }

  /** Returns undefined at the limit. */
  #openNew(key: string, principal: unknown): PooledConnection | undefined {
    if (this.#connections.size + this.#closing >= this.#max) return undefined
    const server = this.#withOwnProvider(key)
    const setup = { ...this.#setup, lists: this.#setup.lists.forAnother(), server, owner: () => pooled.principal }
    const pooled: PooledConnection = { key, principal, calls: 0, connection: new Connection(setup, 'by calls alone') }
    this.#connections.set(key, pooled)
    return pooled
  }

  #release(pooled: PooledConnection): void {
    pooled.calls--
    if (pooled.calls > 0) return
    this.#connections.delete(pooled.key)
    this.#connections.set(pooled.key, pooled)
    this.#wake()
  }

  async #close(pooled: PooledConnection): Promise<void> {
    this.#connections.delete(pooled.key)
    this.#closing++
    try {
      await pooled.connection.close()
    } finally {
      this.#closing--
      this.#wake()
    }
  }

  /** Waits until a connection changes. */
  async #waitForChange(signal: AbortSignal): Promise<void> {
    let wake = () => {}
    await new Promise<void>((resolve) => {
      wake = resolve
      this.#waiters.push(resolve)
      signal.addEventListener('abort', wake, { once: true })
    })
    signal.removeEventListener('abort', wake)
  }

  #wake(): void {
    for (const wake of this.#waiters.splice(0)) wake()
  }

  /** Ensures that no two users share a provider, because it stores tokens and would send one user's for the other. */
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
            'has an authProvider that returns the same object for two users. Return one for each user, with its own tokens.',
          )
        this.#owners.set(provider, key)
        return provider
      },
    }
  }
}
