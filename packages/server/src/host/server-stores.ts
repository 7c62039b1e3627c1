import { AlliumError } from '@allium/core'
import { sessionStorage } from '@allium/memory/session-storage'
import { memoryStore, type SessionStore } from '@allium/store'
import type { DurableRuns } from '../options/durable-runs.ts'
import type { ServedAgent, ServerOptions } from '../options/options.ts'

/** @throws AlliumError `server.options` for an agent that is not served, or for other stores of sessions or events */
export function durablesOf(agents: ReadonlyMap<string, ServedAgent>, options: ServerOptions): DurableRuns[] {
  const { durable = [], ...overrides } = options
  const durables = [durable].flat() as DurableRuns[]
  const served: readonly unknown[] = [...agents.values()]
  for (const { agent, sessions, events } of durables) {
    if (!served.includes(agent))
      throw new AlliumError(
        'server.options',
        `The option durable has runs of the agent "${agent.name}", which this server does not serve. Pass the same agent to durable() and server().`,
      )
    const expected = { ...durables[0], ...overrides }
    if (sessions !== expected.sessions || events !== expected.events)
      throw new AlliumError(
        'server.options',
        `The durable runs of "${agent.name}" are in another store. Pass the same store to each durable() and to server().`,
      )
  }
  return durables
}

/** Returns the store that all agents were created with, or undefined if they have different ones. */
export function sharedStore(agents: ReadonlyMap<string, ServedAgent>): ServedAgent['store'] {
  const [first, ...others] = [...agents.values()].map(({ store }) => store)
  return others.every((store) => store === first) ? first : undefined
}

/** Returns the session store. Adds the layer of `memory.persist()` to agents that do not store their sessions. */
export function storeOf(
  agents: ReadonlyMap<string, ServedAgent>,
  sessionStore: SessionStore | undefined,
): SessionStore {
  const store = sessionStore ?? memoryStore()
  for (const agent of agents.values()) {
    const storage = agent.inspect().layers.find(({ order }) => order.is?.includes('sessionStorage'))
    if (storage === undefined) agent.use(sessionStorage({ store }))
    else if (sessionStore === undefined)
      throw new AlliumError(
        'server.options',
        `The layer "${storage.name}" stores the sessions of the agent "${agent.name}". Pass its store to server(): { sessions: store }.`,
      )
  }
  return store
}
