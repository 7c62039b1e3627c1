import type { Clock, Decision, DisplayTransform, Input, Logger, Session, SessionKey, ToolDef } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { EndedStatus, EventLog, RunStore, ScheduleStore, SessionStore } from '@allium/store'
import type { DurableEvent } from './host/durable-event.ts'
import { agentOptionsError, runOptionsError } from './host/option-errors.ts'
import type { QueueOptions } from './host/queues.ts'

/** The stores of durable runs. `sqlite()` and `postgres()` return one. */
export interface DurableStore {
  readonly sessions: SessionStore
  readonly runs: RunStore
  readonly events?: EventLog | undefined
  /** For `schedules()` of `@allium/durable/schedules`. */
  readonly schedules?: ScheduleStore | undefined
}

/** An agent as `new Agent()` creates it, with its sessions in the same store. */
export interface DurableAgent {
  readonly name: string
  readonly formerNames: readonly string[]
  readonly sessionNames: readonly string[]
  readonly version: string | undefined
  init(): Promise<void>
  session(options?: { id?: string; principal?: never }): Session<unknown, unknown>
  displayFor(key: SessionKey): Promise<DisplayTransform>
  inspect(): {
    layers: readonly {
      name: string
      order: { is?: readonly string[] }
      options: Readonly<Record<string, unknown>>
      place: string | undefined
    }[]
    tools: readonly { name: string; jsonSchema: unknown }[]
  }
}

/** The owner of a run. */
export interface RunOwner {
  readonly tenant: string
  readonly owner: string
  readonly sessionId: string
}

/** Milliseconds after which runs are deleted, by the status with which they ended. */
export type Retention = Readonly<Partial<Record<EndedStatus, number>>>

export interface DurableOptions {
  store: DurableStore
  /** @default the event log of the store */
  events?: EventLog | undefined
  /**
   * Milliseconds for which a process owns a run. It renews the lease during the run. After a crash, other processes wait that long.
   * @default 10_000
   */
  lease?: number | undefined
  /**
   * The name of this process, which operators see beside the runs that it holds.
   * @default the host, if the variable HOSTNAME names it, and the id of the process: `worker-7:4711`
   */
  worker?: string | undefined
  /** How often a run starts without recording a new step before it fails with `run.attempts`. @default 5 */
  attempts?: number | undefined
  /** Most runs that this process executes at once. More of them wait in the store, and start as soon as others end. @default 500 */
  concurrency?: number | undefined
  /**
   * The queues that runs may wait in, by name, with their limits. The queue `default` always exists. This process starts only waiting runs of
   * queues that it declares.
   * @default { default: {} }
   */
  queues?: Readonly<Record<string, QueueOptions>> | undefined
  /**
   * Earlier versions of the agent whose runs this process continues, too. A run whose recorded steps do not fit the current code fails with
   * `journal.diverged`; it executes nothing and keeps its steps. @default none: only runs of the agent's own `version`
   */
  accepts?: readonly string[] | undefined
  /**
   * Milliseconds after which a run of another version of the agent fails with `run.version`, if no process of that version claims it.
   * @default 10 minutes
   */
  orphanAfter?: number | undefined
  /**
   * Milliseconds after which ended runs are deleted, for all of them or by status: `{ completed: 86_400_000 }`. Failed runs keep their steps
   * for `retry()`. A suspended run stays as long as a call is pending. @default 7 days, also for each status that is not named
   */
  retention?: number | Retention | undefined
  /**
   * Returns the owner's current principal before a run starts later than its request, or is taken over. If it returns nothing or throws, the run fails with `run.principal`.
   * @default the principal that the run was started with
   */
  resolvePrincipal?: ((owner: RunOwner) => unknown) | undefined
  /**
   * Called with each claim, end and deletion of runs in this process, such as `onEvent` of `durableMetrics()`. An error that it throws is
   * logged. @default none
   */
  onEvent?: ((event: DurableEvent) => void) | undefined
  /** @default the system clock */
  clock?: Clock | undefined
  /** @default the console */
  logger?: Logger | undefined
}

/** The request of a durable run. All of it is stored, so it takes plain data without functions. */
export interface StartOptions {
  /** The principal of the run. @default none */
  principal?: unknown
  /** @default a new session; with an `idempotencyKey`, the session of that key */
  sessionId?: string | undefined
  /** Either `input` or `decisions` is required. */
  input?: Input | undefined
  decisions?: Readonly<Record<string, Decision>> | undefined
  /** The approver. @default the principal */
  approver?: unknown
  /** The runtime context of the run. */
  context?: unknown
  /** JSON Schema of the answer. */
  output?: Readonly<Record<string, unknown>> | undefined
  clientTools?: readonly ToolDef[] | undefined
  /** A repeated start with the same key returns the same run. */
  idempotencyKey?: string | undefined
  /** Earliest start, in milliseconds since the epoch. @default now */
  runAt?: number | undefined
  /** A queue that the option `queues` of `durable()` declares. @default 'default' */
  queue?: string | undefined
  /**
   * A whole number from -1000 to 1000. Among runs that wait, a smaller number starts earlier. Each step counts as one minute of waiting.
   * @default 0
   */
  priority?: number | undefined
  /** Whether a layer may restart an answer that readers have partly received, as in the options of a run. @default 'reset' */
  onRetryAfterOutput?: 'reset' | 'fail' | undefined
  /** While another run has the session, `'queue'` waits and `'reject'` throws `session.busy`. @default 'queue' */
  onBusy?: 'queue' | 'reject' | undefined
}

const durableOptionKeys: KeysOf<DurableOptions> = {
  store: true,
  events: true,
  lease: true,
  worker: true,
  attempts: true,
  concurrency: true,
  queues: true,
  accepts: true,
  orphanAfter: true,
  retention: true,
  resolvePrincipal: true,
  onEvent: true,
  clock: true,
  logger: true,
}

/** @throws AlliumError `agent.options` */
export function checkDurableOptions(options: DurableOptions): void {
  checkOptions(options ?? null, durableOptionKeys, 'durable()', 'agent.options')
  const { store } = options as Partial<DurableOptions>
  if (store?.runs === undefined || store.sessions === undefined)
    throw agentOptionsError('durable() needs a store with sessions and runs. Pass "store", such as sqlite().')
}

const startOptionKeys: KeysOf<StartOptions> = {
  principal: true,
  sessionId: true,
  input: true,
  decisions: true,
  approver: true,
  context: true,
  output: true,
  clientTools: true,
  idempotencyKey: true,
  runAt: true,
  queue: true,
  priority: true,
  onRetryAfterOutput: true,
  onBusy: true,
}

/** @throws AlliumError `run.options` */
export function checkStart(options: StartOptions): void {
  checkOptions(options ?? null, startOptionKeys, 'A durable run', 'run.options')
  if ((options.input === undefined) === (options.decisions === undefined))
    throw runOptionsError('A durable run takes either "input" or "decisions". Give one of them.')
  if (options.runAt !== undefined && !Number.isFinite(options.runAt))
    throw runOptionsError(
      `The option runAt is a time in milliseconds since the epoch, but ${String(options.runAt)} was given.`,
    )
}

/** Limits in numbers. Those of queues are in `Queues`. */
export interface Limits {
  /** Lease duration in milliseconds. */
  readonly lease: number
  /** How often a run starts without a new step. */
  readonly attempts: number
  /** Most runs that this process executes at once. */
  readonly concurrency: number
  /** Milliseconds after which a run of a version that no process claims fails. */
  readonly orphanAfter: number
  /** Milliseconds after which ended runs are deleted. */
  readonly retention: Required<Retention>
}

/** @throws AlliumError `agent.options` */
export function limitsOf(options: DurableOptions): Limits {
  const { lease = 10_000, attempts = 5, concurrency = 500, orphanAfter = 600_000, retention } = options
  const limits = { lease, attempts, concurrency, orphanAfter }
  checkBounds(limits)
  return { ...limits, retention: retentionOf(retention) }
}

const week = 604_800_000
const endedStatuses: KeysOf<Required<Retention>> = {
  completed: true,
  stopped: true,
  suspended: true,
  blocked: true,
  aborted: true,
  failed: true,
}

/** Returns the milliseconds after which runs of each status are deleted. @throws AlliumError `agent.options` */
function retentionOf(retention: DurableOptions['retention'] = week): Required<Retention> {
  const other = typeof retention === 'number' ? retention : week
  const named = typeof retention === 'number' ? {} : retention
  checkOptions(named, endedStatuses, 'The option retention', 'agent.options')
  const defaults = Object.fromEntries(Object.keys(endedStatuses).map((status) => [status, other]))
  const byStatus = { ...defaults, ...named } as Required<Retention>
  checkBounds(Object.fromEntries(Object.entries(byStatus).map(([status, ms]) => [`retention (${status})`, ms])))
  return byStatus
}

/** @throws AlliumError `agent.options` if a value is not above 0 */
function checkBounds(bounds: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(bounds))
    if (!(value > 0)) throw agentOptionsError(`durable() takes ${name} as a number above 0, but ${value} was given.`)
}
