import type {
  Clock,
  DisplayTransform,
  Logger,
  Middleware,
  RegisteredPrincipal,
  Session,
  SessionKey,
} from '@allium/core'
import type { AgentStore, EventLog, SessionStore } from '@allium/store'
import type { DurableRuns } from './durable-runs.ts'
import type { ServerLimits } from './limits.ts'

/** An agent as the server uses it. */
export interface ServedAgent {
  readonly name: string
  readonly formerNames: readonly string[]
  readonly sessionGroup?: string | undefined
  readonly sessionNames: readonly string[]
  /** The store that the agent was created with. */
  readonly store?: Pick<AgentStore, 'sessions' | 'events' | 'feedback' | 'passages'> | undefined
  session(options?: { id?: string; principal?: never }): Session<unknown, unknown>
  displayFor(key: SessionKey): Promise<DisplayTransform>
  use(layer: Middleware): unknown
  inspect(): {
    tools: readonly { readonly name: string }[]
    layers: readonly { name: string; state: readonly string[]; order: { is?: readonly string[] } }[]
    /** Whether only the owner of a session may approve calls, or also the principals that the agent's rule accepts. @default 'rule' */
    approvers?: 'owner' | 'rule'
  }
  dispose(options?: { timeout?: number }): Promise<void>
}

/** The result of `inspector()` of `@allium/server/inspect`. */
export interface Inspect {
  /** Follows the turns of the agents and the events of their runs. Returns the event log for the server. */
  watch(agents: Iterable<ServedAgent>, events: EventLog): EventLog
  /** Adds the routes of the inspector. */
  routes(serve: never, host: never): void
}

/** The result of `operator()` of `@allium/server/operations`. */
export interface Operate {
  /** Schemas for the OpenAPI document. */
  readonly schemas: Readonly<Record<string, object>>
  /** Adds the routes for operators. */
  routes(serve: never, host: never): void
}

/** The result of `feedback()` of `@allium/server/feedback`. */
export interface CollectFeedback {
  /** Adds the routes of feedback. */
  routes(serve: never, host: never): void
}

/** The result of `memory()` of `@allium/server/memory`. */
export interface ControlMemory {
  /** Schemas of the answers for the OpenAPI document, by name. */
  readonly schemas: Readonly<Record<string, object>>
  /** Adds the routes of what is remembered. `deleteSession` is that of the server's own routes. */
  routes(serve: never, host: never, deleteSession: never): void
}

export interface ServerOptions {
  /**
   * Returns the principal of a request. The server answers 401 if it throws or returns anything but an object. It also answers 401 for a
   * principal without `userId` or `user`, unless the agent has `owner`. To read the body, read that of `request.clone()`.
   */
  principal(request: Request): unknown
  /**
   * The session store, the same as in the agent's `memory.persist`. An agent without such a layer gets one.
   * @default the sessions of the agent's `store`, else a store in this process
   */
  sessions?: SessionStore | undefined
  /**
   * The event log, from which readers receive the events of runs. @default the events of the agent's `store`, else a log in this process
   * that keeps events until an hour after the run
   */
  events?: EventLog | undefined
  /**
   * Durable runs: the results of `durable(agent, { store })` of `@allium/durable`, one for each agent that has them. The server then uses
   * the sessions and events of that store. @default a run whose process is lost is stored as interrupted
   */
  durable?: DurableRuns | readonly DurableRuns[] | undefined
  /**
   * Whether a principal may use an agent, if there are several. A throw, or any result but true, denies it. @default every principal may
   */
  canUse?: ((principal: RegisteredPrincipal, agent: string) => boolean | Promise<boolean>) | undefined
  /**
   * Whether a principal may read a session of another owner of their tenant. The routes for reading then take `?owner=`. It allows the
   * list, messages, files, usage and state of a session, never to run, decide or delete. A throw, or any result but true, denies it.
   * @default only the owner may
   */
  canRead?:
    | ((
        principal: RegisteredPrincipal,
        session: { readonly owner: string; readonly agent: string; readonly sessionId: string },
      ) => boolean | Promise<boolean>)
    | undefined
  /**
   * Returns the current principal of a session's owner, or nothing. If an approver other than the owner decides a call, as the agent's
   * `approvals.canApprove` allows, the call runs as the owner. @default only owners decide
   */
  resolvePrincipal?: ((session: { readonly tenant: string; readonly owner: string }) => unknown) | undefined
  /** Serves AI SDK clients at `/chat`. The value is the major version of the AI SDK. @default off */
  uiStream?: 6 | 7 | undefined
  /** Serves clients of OpenAI's API under `/v1`. @default false */
  openai?: boolean | undefined
  /**
   * Encrypts the cursors of lists and the states of MCP calls with questions. Also seals the calls of client tools for clients of
   * OpenAI's API that send their own history. At least 16 random characters, the same in all processes.
   * @default none: a cursor or state is valid in the process that made it, and client tools of such clients are rejected
   */
  secret?: string | undefined
  /** Serves AG-UI clients at `/agui`. @default false */
  agui?: boolean | undefined
  /**
   * Serves agents as MCP tools at `/mcp`; needs `@modelcontextprotocol/server`. With `elicitation` the server asks the caller of a tool to
   * decide its pending calls and to answer the questions of its tools, if their client supports that. Without `hosts` it serves only loopback names. @default false
   */
  mcp?: boolean | { readonly elicitation?: boolean | undefined } | undefined
  /**
   * What happens to an input while its session is running another one. `'reject'` answers 409. `'steer'` sends it to the active run, and
   * the caller gets that run's stream from the delivery on; if that run already had its answer, the input becomes a new turn. `'queue'`
   * queues it: at most 16 per session, first come, first served.
   * @default 'reject'
   */
  onBusy?: 'reject' | 'steer' | 'queue' | undefined
  /**
   * What happens to a message of a client that takes the place of an earlier one: an edit, or a question that is answered again. `'fork'`
   * continues the session before that message, and keeps the former conversation as another session of the owner, which is deleted with
   * this one. `'reject'` answers 400.
   * @default 'fork'
   */
  edits?: 'fork' | 'reject' | undefined
  /**
   * The keys of session state that readers of the session may read, as the last run left them, for example values that a page shows.
   * State is written by layers and can contain secrets. @default none
   */
  state?: readonly string[] | undefined
  /**
   * Whether a run continues or is aborted when its last reader disconnects. Readers can come back to a run that continues. @default
   * 'continue'
   */
  onDisconnect?: 'continue' | 'abort' | undefined
  /** Milliseconds that `'abort'` waits for a reader to come back. @default 0 */
  abortAfter?: number | undefined
  /**
   * Milliseconds after which the headers of a stream are sent even without an event. Until then, a rejected run gets its HTTP status.
   * @default 1000
   */
  headersAfter?: number | undefined
  /** Milliseconds between two heartbeats in a stream without events. @default 15_000 */
  heartbeat?: number | undefined
  /** Largest request body in bytes. @default 1_048_576 */
  maxBodyBytes?: number | undefined
  /** Limits of one process, with fair shares for tenants and users. @default see {@link ServerLimits} */
  limits?: ServerLimits | undefined
  /**
   * Lets chosen principals inspect the agents and their turns, with the result of `inspector()` of `@allium/server/inspect`. @default off
   */
  inspect?: Inspect | undefined
  /**
   * Lets chosen principals see and move durable runs, with the result of `operator()` of `@allium/server/operations`. @default off
   */
  operations?: Operate | undefined
  /** Lets callers give feedback on runs, with the result of `feedback()` of `@allium/server/feedback`. @default off */
  feedback?: CollectFeedback | undefined
  /**
   * Lets callers see, correct and delete what is remembered of them, and switch it off, with the result of `memory()` of
   * `@allium/server/memory`. @default off
   */
  memory?: ControlMemory | undefined
  /** Origins of other sites whose pages may send requests, such as `https://app.acme.com`. @default none: only pages of this host */
  origins?: readonly string[] | undefined
  /** The hosts to serve, with port, such as `api.acme.com`. @default all */
  hosts?: readonly string[] | undefined
  /** Whether to read the host from `x-forwarded-host`. Use it only behind a proxy that sets the header. @default false */
  trustProxy?: boolean | undefined
  /** The path prefix of all routes, such as `/api/ai`. @default '/' */
  base?: string | undefined
  /**
   * Serves `/metrics` to clients that send the token as a bearer token. `collect` returns more metrics in Prometheus' text format, such as
   * `prometheus` of `durableMetrics()`. @default closed
   */
  metrics?: { readonly token: string; readonly collect?: (() => string | Promise<string>) | undefined } | undefined
  /** Receives a line for each fault: a code and the request's id, never the content of messages. @default the console */
  logger?: Logger | undefined
  /** @default the system clock */
  clock?: Clock | undefined
}
