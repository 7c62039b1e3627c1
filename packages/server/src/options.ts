import {
  type AgentStore,
  AlliumError,
  type Clock,
  checkOptions,
  type DisplayTransform,
  type EventLog,
  type KeysOf,
  type Logger,
  type Middleware,
  type Session,
  type SessionKey,
  type SessionStore,
} from '@allium/core'
import type { Durable } from '@allium/durable'
import { checkLimits, type ServerLimits } from './limits.ts'

/** An agent as a server needs it. */
export interface ServedAgent {
  readonly name: string
  readonly formerNames: readonly string[]
  readonly sessionGroup?: string | undefined
  readonly sessionNames: readonly string[]
  /** The store that it was made with, where it was. */
  readonly store?: Pick<AgentStore, 'sessions' | 'events'> | undefined
  session(options?: { id?: string; principal?: never }): Session<unknown, unknown>
  showing(key: SessionKey): Promise<DisplayTransform>
  use(layer: Middleware): unknown
  inspect(): {
    layers: readonly { name: string; state: readonly string[]; order: { is?: readonly string[] } }[]
    /** Who may approve calls: only the owner of a session, or whom the agent's rule lets. @default 'rule' */
    approvers?: 'owner' | 'rule'
  }
  dispose(options?: { timeout?: number }): Promise<void>
}

export interface ServerOptions {
  /**
   * Who asks, by the request's headers. Nothing, null or a throw is 401, and so is somebody whose sessions would be nobody's: a
   * principal needs a `userId` or `user`, unless the agent has `owner`. To read the body, read that of `request.clone()`.
   */
  principal(request: Request): unknown
  /**
   * Where sessions are kept: the store of the agent's `memory.persist`. An agent without such a layer gets one.
   * @default those of the agent's `store`, else one in this process
   */
  sessions?: SessionStore | undefined
  /** Where the events of runs are kept for their readers. @default those of the agent's `store`, else in this process, until an hour after the run */
  events?: EventLog | undefined
  /**
   * Runs that outlive their process: what `durable(agent, { store })` of `@allium/durable` gives, one for each agent that has them. Sessions
   * and events are those of its store. @default a run whose process is lost is kept as interrupted
   */
  durable?: Durable | readonly Durable[] | undefined
  /** Whether somebody may use an agent, where there are several. Anything but true, and a throw, is no. @default everybody may */
  mayUse?: ((principal: unknown, agent: string) => boolean | Promise<boolean>) | undefined
  /**
   * Whether somebody may read a session of another owner of their tenant: those routes take `?owner=`. It opens list, messages and usage,
   * never what runs, decides or deletes. Anything but true, and a throw, is no. @default nobody but the owner
   */
  mayRead?:
    | ((
        principal: unknown,
        session: { readonly owner: string; readonly agent: string; readonly sessionId: string },
      ) => boolean | Promise<boolean>)
    | undefined
  /**
   * The owner of a session as they are now, or nothing: a call that somebody else decides, whom the agent's `approvals.mayDecide` lets,
   * runs as its session's owner. @default only owners decide
   */
  resolvePrincipal?: ((session: { readonly tenant: string; readonly owner: string }) => unknown) | undefined
  /** Serves pages of the AI SDK, at `/chat`: the version that they have. @default not at all */
  uiStream?: 6 | 7 | undefined
  /** Serves clients of OpenAI's API, below `/v1`. @default false */
  openai?: boolean | undefined
  /**
   * Encrypts the cursors of lists, and seals the calls that are handed back to clients of OpenAI's API that send their history. At least
   * 16 characters, random, the same in all processes.
   * @default none: a cursor is good in the process that made it, and such tools of clients are refused
   */
  secret?: string | undefined
  /** Serves clients of AG-UI, at `/agui`. @default false */
  agui?: boolean | undefined
  /**
   * Serves agents as tools of MCP, at `/mcp`; needs `@modelcontextprotocol/sdk`. With `elicitation` who has called the tool is
   * asked about calls that wait, where their client can. Without `hosts` it serves loopback names alone. @default false
   */
  mcp?: boolean | { readonly elicitation?: boolean | undefined } | undefined
  /**
   * What becomes of an input while its session runs another one: it is refused with 409; said to the run that goes on, whose stream it
   * gets from where it was heard, or a turn of its own where that had its answer before; or it waits, 16 at most, first come first served.
   * @default 'reject'
   */
  onBusy?: 'reject' | 'steer' | 'queue' | undefined
  /**
   * The keys of a session's state that who may read the session may read, as its last run left them, such as what a page shows. State is
   * what layers keep, secrets among it. @default none
   */
  state?: readonly string[] | undefined
  /** What happens to a run whose last reader has left. It goes on, for a reader who comes back, or is aborted. @default 'continue' */
  onDisconnect?: 'continue' | 'abort' | undefined
  /** Milliseconds that `'abort'` waits for a reader to come back. @default 0 */
  abortAfter?: number | undefined
  /** Milliseconds after which the headers of a stream go out though nothing came yet; until then a refusal has its status. @default 1000 */
  headersAfter?: number | undefined
  /** Milliseconds between two signs of life in a silent stream. @default 15_000 */
  heartbeat?: number | undefined
  /** Bytes that the body of a request may have. @default 1_048_576 */
  maxBody?: number | undefined
  /** How much one process holds at once, with fair shares for tenants and users. @default see {@link ServerLimits} */
  limits?: ServerLimits | undefined
  /** Origins of other sites whose pages may ask, such as `https://app.acme.com`. @default none: only pages of this host */
  origins?: readonly string[] | undefined
  /** The hosts that are served, with port, such as `api.acme.com`. @default all */
  hosts?: readonly string[] | undefined
  /** Whether `x-forwarded-host` tells the host: only behind a proxy that sets it. @default false */
  trustProxy?: boolean | undefined
  /** The path under which all routes stand, such as `/api/ai`. @default '/' */
  base?: string | undefined
  /** Opens `/metrics` to who sends the token as a bearer. @default closed */
  metrics?: { readonly token: string } | undefined
  /** Gets a line for each fault: a code and the request's id, never what was said. @default the console */
  logger?: Logger | undefined
  /** @default the machine's */
  clock?: Clock | undefined
}

/** What each option must be. */
const checks: Record<keyof ServerOptions, (value: unknown) => boolean> = {
  principal: isFunction,
  sessions: isObject,
  events: isObject,
  durable: isDurable,
  mayUse: isFunction,
  mayRead: isFunction,
  resolvePrincipal: isFunction,
  uiStream: (value) => value === 6 || value === 7,
  secret: (value) => isNonEmptyString(value) && (value as string).length >= 16,
  openai: (value) => typeof value === 'boolean',
  agui: (value) => typeof value === 'boolean',
  mcp: (value) => typeof value === 'boolean' || isObject(value),
  onDisconnect: (value) => value === 'continue' || value === 'abort',
  abortAfter: isNonNegative,
  state: isStringList,
  onBusy: (value) => value === 'reject' || value === 'steer' || value === 'queue',
  headersAfter: isNonNegative,
  heartbeat: (value) => isNonNegative(value) && value !== 0,
  maxBody: (value) => isNonNegative(value) && value !== 0,
  limits: isObject,
  origins: isStringList,
  hosts: isStringList,
  trustProxy: (value) => typeof value === 'boolean',
  base: (value) => typeof value === 'string' && value.startsWith('/'),
  metrics: (value) => isObject(value) && isNonEmptyString((value as { token?: unknown }).token),
  logger: isObject,
  clock: isObject,
}

const optionKeys = Object.fromEntries(Object.keys(checks).map((name) => [name, true as const]))
const mcpOptionKeys: KeysOf<Exclude<ServerOptions['mcp'], boolean | undefined>> = { elicitation: true }
const metricsOptionKeys: KeysOf<NonNullable<ServerOptions['metrics']>> = { token: true }
const drainOptionKeys = { timeout: true } as const

/** @throws AlliumError `server.options` */
export function checkDrainOptions(options: unknown): void {
  checkOptions(options, drainOptionKeys, 'drain()', 'server.options')
}

/** @throws AlliumError `server.options` */
export function checkServerOptions(options: object): void {
  if (!('principal' in options)) throw new AlliumError('server.options', missingPrincipal)
  checkOptions(options, optionKeys, 'server()', 'server.options', {
    'model instructions tools': 'It belongs to the agent: new Agent({ … }).',
    'port hostname': 'Give it to serve(server, { port }) of @allium/server/node.',
  })
  const { mcp, metrics, limits } = options as Partial<ServerOptions>
  checkLimits(limits)
  if (typeof mcp === 'object') checkOptions(mcp, mcpOptionKeys, 'The option mcp', 'server.options')
  checkOptions(metrics, metricsOptionKeys, 'The option metrics', 'server.options')
  for (const [name, value] of Object.entries(options)) {
    const check = checks[name as keyof ServerOptions]
    if (value !== undefined && check !== undefined && !check(value))
      throw new AlliumError('server.options', `The option ${name} of server() has a value that it does not take.`)
  }
}

const missingPrincipal =
  'A server needs to know who asks. Give `principal: (request) => …`, which returns { tenantId, userId } for a request that is signed in, and nothing for others.'

function isDurable(value: unknown): boolean {
  // That of an engine keeps no sessions and events that a server could read.
  const isDurableRuns = (candidate: unknown) =>
    isObject(candidate) && isFunction((candidate as Durable).start) && isObject((candidate as Durable).events)
  return [value].flat().every(isDurableRuns)
}
function isFunction(value: unknown): boolean {
  return typeof value === 'function'
}
function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}
function isNonEmptyString(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}
function isStringList(value: unknown): boolean {
  return Array.isArray(value) && value.every(isNonEmptyString)
}
function isNonNegative(value: unknown): boolean {
  return typeof value === 'number' && value >= 0
}
