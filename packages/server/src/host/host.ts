import { AlliumError, type Clock, type Logger, systemClock } from '@allium/core'
import { nearestFirst } from '@allium/core/internal'
import { type EventLog, memoryEventLog, type SessionStore } from '@allium/store'
import { Cursors } from '../http/cursors.ts'
import { Slots } from '../http/slots.ts'
import { createShares, type Shares, steerLimitOf } from '../options/limits.ts'
import type { ServedAgent, ServerOptions } from '../options/options.ts'
import { Metrics } from '../run/metrics.ts'
import { Runs } from '../run/runs.ts'
import { ActiveRequests } from './active-requests.ts'
import { checkAgentNames, checkToolNames, otherNames } from './agent-names.ts'
import { otherNamesStore } from './other-names-store.ts'
import { durablesOf, sharedStore, storeOf } from './server-stores.ts'

/** The clock, the log and the counters. Other records have them too, because they give access to no data. */
export interface Runtime {
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
}

/** Callers, and what the server allows them. */
export interface Access extends Runtime {
  readonly agents: ReadonlyMap<string, ServedAgent>
  readonly options: Pick<
    ServerOptions,
    'principal' | 'canUse' | 'canRead' | 'resolvePrincipal' | 'edits' | 'state' | 'hosts'
  >
  readonly activeRequests: ActiveRequests
}

/** The stores, for reading. */
export interface StoreReader {
  readonly sessions: Pick<
    SessionStore,
    'load' | 'head' | 'history' | 'find' | 'list' | 'pendingCalls' | 'findPendingCall'
  >
  readonly events: Pick<EventLog, 'latest' | 'read'>
}

/** The stores, for reading and changing. */
export interface Stores extends StoreReader {
  readonly sessions: SessionStore
  readonly events: EventLog
}

/** The runs, for following them. */
export interface RunReader {
  readonly runs: Pick<Runs, 'find' | 'agentOf' | 'durableStatus' | 'onClose' | 'size' | 'draining'>
}

/** The runs, for starting, steering and stopping them. */
export interface RunControl extends RunReader {
  readonly runs: RunReader['runs'] & Pick<Runs, 'start' | 'steer' | 'stop' | 'drop'>
}

/** The sizes, times and shares that bound requests and streams. */
export interface Limits extends Runtime {
  readonly maxBodyBytes: number
  readonly headersAfter: number
  readonly heartbeat: number
  readonly shares: Shares
  /** For reads of files and of whole sessions, which need much memory. */
  readonly slots: { readonly files: Slots; readonly sessions: Slots }
}

/** Seals of the values that clients send back: cursors, and ids of calls. */
export interface Seals {
  readonly cursors: Cursors
  readonly options: Pick<ServerOptions, 'secret'>
}

/** All records of a server. Routes and functions take only those that they use. */
export interface Host extends Access, Stores, RunControl, Limits, Seals {
  readonly options: ServerOptions
  readonly runs: Runs
}

/**
 * Creates the records of a server, and checks the options that depend on the agents. The routes take these records:
 *
 * | routes | file | function | records |
 * |---|---|---|---|
 * | starting, following and answering runs | native/runs.ts | runRoutes | Access, Stores, RunControl, Limits |
 * | stopping and steering runs | native/control.ts | controlRoutes | Access, StoreReader, RunControl |
 * | approvals | native/approvals.ts | approvalRoutes | Access, StoreReader, RunControl, Seals |
 * | sessions | native/sessions.ts | sessionRoutes | Access, Stores, RunControl, Limits, Seals |
 * | of these, lists, messages, files, usage and state | native/sessions.ts | readRoutes | Access, StoreReader, RunReader, Limits, Seals |
 * | of these, forks and deletion | native/sessions.ts | ownerRoutes | Access, Stores, RunControl, Limits |
 * | AI SDK chats | ui/routes.ts | uiRoutes | Access, Stores, RunControl, Limits |
 * | OpenAI chat completions | openai/routes.ts | openaiRoutes | Access, Stores, RunControl, Limits, Seals |
 * | OpenAI responses | openai/response-routes.ts | responseRoutes | Access, Stores, RunControl, Limits, Seals |
 * | AG-UI | agui/routes.ts | aguiRoutes | Access, Stores, RunControl, Limits, Seals |
 * | MCP | mcp/routes.ts | mcpRoutes | Access, StoreReader, RunControl, Limits, Seals |
 * | the inspector | inspect/routes.ts | inspectRoutes | Access, Stores, RunReader, Limits, Seals |
 * | of these, the list of the sessions of a tenant | inspect/routes.ts | listRoutes | StoreReader, Seals |
 * | of these, the content of a session | inspect/routes.ts | contentRoutes | StoreReader, Limits |
 * | of these, copies of sessions | inspect/read-only-routes.ts | readOnlyRoutes | Stores, Limits, Seals |
 * | feedback on runs | feedback/feedback-routes.ts | feedbackRoutes | Access, StoreReader |
 * | what is remembered of a caller | memory/memory-routes.ts | memoryRoutes | Access, Stores, RunControl, Seals |
 * | of these, single blocks | memory/memory-routes.ts | blockRoutes | Access |
 * | operators of durable runs and schedules | operations/operator.ts | operator | Access, Seals |
 * | health, metrics, the OpenAPI document | app/health.ts | healthRoutes | StoreReader, RunReader, Runtime, options |
 *
 * @throws AlliumError `server.options`
 */
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
  const { maxBodyBytes = 1_048_576, secret } = options
  const cursors = new Cursors(secret)
  const activeRequests = new ActiveRequests(agents, shares.requests)
  const slots = { files: new Slots(maxFileReads), sessions: new Slots(maxSessionReads) }
  const bounds = { headersAfter, heartbeat, maxBodyBytes, shares, activeRequests, slots }
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
        `The option state names the key "${key}", but no layer declares it. Declared: ${nearestFirst(key, knownKeys).join(', ')}.`,
      )
}
