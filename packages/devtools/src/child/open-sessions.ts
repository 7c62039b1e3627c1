import { userInfo } from 'node:os'
import type { ReadOnlyStore } from '@allium/server/inspect'
import type { AgentStore, EventLog, memoryStore, SessionStore } from '@allium/store'
import { type SqliteStore, sqlite } from '@allium/store-sqlite'
import type { AgentModule, DevAgent } from './load-agent.ts'
import { redirectPassages, redirectSessions } from './redirect-sessions.ts'

/** The name under which `memoryStore()` finds the store that replaces it. */
const memoryStoreStandIn = Symbol.for('allium:memory-store')

/** The parts of a store beside its sessions that a `memoryStore()` has, too. */
type LateParts = Pick<SqliteStore, 'recordings' | 'feedback' | 'rollouts' | 'passages'>
const latePartNames: readonly string[] = [
  'recordings',
  'feedback',
  'rollouts',
  'passages',
] satisfies (keyof LateParts)[]

function isLatePart(name: string): name is keyof LateParts {
  return latePartNames.includes(name)
}

/** The stores of the server, and the agent's own store, whose sessions are read-only. */
interface ServedStores {
  readonly sessions: SessionStore
  readonly events: EventLog
  readonly readOnly?: ReadOnlyStore
}

/** Opens the sessions of the inspector, and lets each `memoryStore()` that the agent's module creates use them. */
export function openSessions(database: string) {
  let opened: SqliteStore | undefined
  let usesStandIn = false
  const store = (encrypt?: AgentModule['encrypt']) => (opened ??= sqlite(database, { synchronous: 'normal', encrypt }))
  // Opened at the first use, when the module has been imported and `encrypt` is known.
  const sessions = new Proxy({} as ReturnType<typeof memoryStore>, {
    get: (_, name: keyof ReturnType<typeof memoryStore>) => (isLatePart(name) ? store()[name] : store().sessions[name]),
  })
  Object.assign(globalThis, {
    [memoryStoreStandIn]: () => {
      usesStandIn = true
      return sessions
    },
  })
  return {
    /**
     * Returns the stores to serve the agent with. All runs are stored in the inspector's own store, also if the agent has another one. The
     * sessions of that store are read-only.
     */
    storesOf(agent: DevAgent, module: AgentModule): ServedStores {
      const configured = module.store ?? agent.store
      const dev = store(module.encrypt)
      const { events } = dev
      if (configured !== undefined && configured.sessions !== sessions)
        return { sessions: dev.sessions, events, readOnly: readOnlyStore(configured, dev, module) }
      const persists = agent.inspect().layers.some(({ order }) => order.is?.includes('sessionStorage'))
      if (!persists || usesStandIn || configured !== undefined) return { sessions: dev.sessions, events }
      throw new Error(
        `The agent "${agent.name}" has its own memory.persist layer. Export the store of that layer, so that the inspector can show its sessions and store its own runs elsewhere: export const store = …`,
      )
    },
    /** The inspector's own store, whatever store the agent has. */
    parts: (module: AgentModule): LateParts => store(module.encrypt),
    close() {
      Reflect.deleteProperty(globalThis, memoryStoreStandIn)
      opened?.close()
    },
  }
}

function readOnlyStore(
  configured: Pick<AgentStore, 'sessions' | 'audit' | 'passages'> & { readonly runs?: { readonly sealed?: boolean } },
  dev: SqliteStore,
  { encrypt, audit, auditSecret }: AgentModule,
): ReadOnlyStore {
  if (configured.passages !== undefined) redirectPassages(configured.passages, dev.passages)
  return {
    sessions: redirectSessions(configured.sessions, dev.sessions),
    audit: audit ?? (configured.audit as ReadOnlyStore['audit'] | undefined) ?? dev.audit,
    auditSecret,
    reader: () => `${userInfo().username} with allium dev`,
    // A copy of sealed content must not be stored in clear text.
    copies: configured.runs?.sealed !== true || encrypt !== undefined,
  }
}
