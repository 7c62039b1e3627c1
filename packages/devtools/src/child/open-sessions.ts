import type { SessionStore } from '@allium/store'
import { type SqliteStore, sqlite } from '@allium/store-sqlite'
import type { AgentModule, DevAgent } from './load-agent.ts'

/** The name under which `memoryStore()` finds the store that replaces it. */
const memoryStoreStandIn = Symbol.for('allium:memory-store')

/** Opens the sessions of the inspector, and lets each `memoryStore()` that the agent's module creates use them. */
export function openSessions(database: string) {
  let opened: SqliteStore | undefined
  let usesStandIn = false
  const store = (encrypt?: AgentModule['encrypt']) => (opened ??= sqlite(database, { synchronous: 'normal', encrypt }))
  // Opened at the first use, when the module has been imported and `encrypt` is known.
  const sessions = new Proxy({} as SessionStore, { get: (_, name: keyof SessionStore) => store().sessions[name] })
  Object.assign(globalThis, {
    [memoryStoreStandIn]: () => {
      usesStandIn = true
      return sessions
    },
  })
  return {
    /** Returns the stores to serve the agent with. */
    storesOf(agent: DevAgent, module: Pick<AgentModule, 'store' | 'encrypt'>) {
      const own = module.store ?? agent.store
      const dev = store(module.encrypt)
      const events = own?.events ?? dev.events
      if (own !== undefined) return { sessions: own.sessions, events }
      const persists = agent.inspect().layers.some(({ order }) => order.is?.includes('sessionStorage'))
      if (!persists || usesStandIn) return { sessions: dev.sessions, events }
      throw new Error(
        `The agent "${agent.name}" has its own memory.persist layer. Export the store of that layer, so that the inspector reads the same sessions: export const store = …`,
      )
    },
    close: () => opened?.close(),
  }
}
