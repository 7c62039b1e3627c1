import { AlliumError, type Clock, type Logger, systemClock } from '@allium/core'
import { nearestFirst } from '@allium/core/internal'
import { persist } from '@allium/memory'
import { type EventLog, memoryEventLog, memoryStore, type SessionStore } from '@allium/store'
import { Cursors } from '../http/cursors.ts'
import { Slots } from '../http/slots.ts'
import type { DurableRuns } from '../options/durable-runs.ts'
import { createShares, type Shares, steerLimitOf } from '../options/limits.ts'
import type { ServedAgent, ServerOptions } from '../options/options.ts'
import { Metrics } from '../run/metrics.ts'
import { Runs } from '../run/runs.ts'
import { ActiveRequests } from './active-requests.ts'
import { checkAgentNames, checkToolNames, otherNames } from './agent-names.ts'
import { otherNamesStore } from './other-names-store.ts'

/** State that all routes of a server share. */
export interface Host {
  readonly agents: ReadonlyMap<string, ServedAgent>
  readonly sessions: SessionStore
  readonly events: EventLog
  readonly runs: Runs
  readonly metrics: Metrics
  readonly clock: Clock
  readonly logger: Logger
  readonly options: ServerOptions
  readonly headersAfter: number
  readonly heartbeat: number
  readonly maxBody: number
  readonly cursors: Cursors
  readonly shares: Shares
  readonly activeRequests: ActiveRequests
  /** For reads of files and of whole sessions, which need much memory. */
  readonly slots: { readonly files: Slots; readonly sessions: Slots }
}

export function createHost(agents: ReadonlyMap<string, ServedAgent>, options: ServerOptions): Host {
  const { clock = systemClock, logger = console, headersAfter = 1000, heartbeat = 15_000 } = options
  const { onDisconnect = 'continue', abortAfter = 0, onBusy = 'reject' } = options
  checkAgentNames(agents)
  if (options.mcp) checkToolNames(agents)
  const shared = sharedStore(agents)
  const durables = durablesOf(agents, options)
  const log = options.events ?? durables[0]?.events ?? shared?.events ?? memoryEventLog({ clock })
  const events = options.inspect?.watch(agents.values(), log) ?? log
  checkState(agents, options.state)
  const metrics = new Metrics()
  const store = storeOf(agents, options.sessions ?? durables[0]?.sessions ?? shared?.sessions)
  const sessions = otherNamesStore(store, otherNames(agents))
  const [shares, steerLimit] = [createShares(options.limits), steerLimitOf(options.limits)]
  const runsOptions = {
    log: events,
    sessions,
    clock,
    logger,
    onDisconnect,
    abortAfter,
    metrics,
    durables,
    onBusy,
    shares,
    steerLimit,
  }
  const runs = new Runs(runsOptions)
  const { maxBody = 1_048_576, secret } = options
  const cursors = new Cursors(secret)
  const activeRequests = new ActiveRequests(agents, shares.requests)
  const slots = { files: new Slots(maxFileReads), sessions: new Slots(maxSessionReads) }
  const bounds = { headersAfter, heartbeat, maxBody, shares, activeRequests, slots }
  return { agents, sessions, events, runs, metrics, clock, logger, options, cursors, ...bounds }
}

/** Files, and whole sessions, that requests of one process read at once: what they need of a heap of 384 MB. */
const [maxFileReads, maxSessionReads] = [4, 2]

/** @throws AlliumError `server.options` for a key that no layer has */
function checkState(agents: ReadonlyMap<string, ServedAgent>, state: readonly string[] = []): void {
  const knownKeys = [...agents.values()].flatMap((agent) => agent.inspect().layers.flatMap((layer) => layer.state))
  for (const key of state)
    if (!knownKeys.includes(key))
      throw new AlliumError(
        'server.options',
        `The option state names the key "${key}", but no layer of the agents declares it. Declared keys: ${nearestFirst(key, knownKeys).join(', ')}.`,
      )
}

/** @throws AlliumError `server.options` for an agent that is not served, or for other stores of sessions or events */
function durablesOf(agents: ReadonlyMap<string, ServedAgent>, options: ServerOptions): DurableRuns[] {
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
function sharedStore(agents: ReadonlyMap<string, ServedAgent>): ServedAgent['store'] {
  const [first, ...others] = [...agents.values()].map(({ store }) => store)
  return others.every((store) => store === first) ? first : undefined
}

/** Returns the session store. Adds a `persist` layer to agents that do not store their sessions. */
function storeOf(agents: ReadonlyMap<string, ServedAgent>, sessionStore: SessionStore | undefined): SessionStore {
  const store = sessionStore ?? memoryStore()
  for (const agent of agents.values()) {
    const storage = agent.inspect().layers.find(({ order }) => order.is?.includes('sessionStorage'))
    if (storage === undefined) agent.use(persist({ store }))
    else if (sessionStore === undefined)
      throw new AlliumError(
        'server.options',
        `The layer "${storage.name}" stores the sessions of the agent "${agent.name}", maybe for another server(). Pass its store to server(): { sessions: store }.`,
      )
  }
  return store
}
