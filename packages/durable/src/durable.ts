import { systemClock } from '@allium/core'
import type { DurableRun, DurableStatus, EventLog, Page, SessionStore } from '@allium/store'
import { storedShapeOf } from '@allium/store/code-shape'
import { type AgentCode, type Host, setHost } from './host/host.ts'
import { agentOptionsError } from './host/option-errors.ts'
import { Queues } from './host/queues.ts'
import { UnloggedEnds } from './host/unlogged-ends.ts'
import type { MigrateOptions, Migration } from './migration/migrate.ts'
import { checkDurableOptions, type DurableAgent, type DurableOptions, limitsOf, type StartOptions } from './options.ts'
import { type AttachedEvent, type AttachOptions, attach } from './requests/attach.ts'
import { migrateRun, type RetryOptions, retryRun, type StopOptions, stopRun } from './requests/change-run.ts'
import type { RunAccess, StartedRun } from './requests/owned-run.ts'
import { type RunInfo, runInfo } from './requests/run-info.ts'
import { denyOverdue, startRun } from './requests/start-run.ts'
import { Worker } from './worker/worker.ts'

interface ListOptions {
  tenant: string
  status?: DurableStatus
  /** The code that a run failed with, such as `run.attempts`. */
  code?: string
  cursor?: string
  /** @default 50 */
  limit?: number
}

/** The durable runs of an agent. They outlive their process. */
export interface Durable {
  readonly agent: DurableAgent
  /** The store of the runs' sessions. */
  readonly sessions: SessionStore
  readonly events: EventLog
  /**
   * Stores a task. Starts it here immediately if it is due, its session is free, and its queue has room. Checks decisions, and consumes them with the task.
   *
   * @throws AlliumError `run.options`, `run.key_reused`, `approval.*`, `session.busy` with `onBusy: 'reject'`
   */
  start(options: StartOptions): Promise<StartedRun>
  /**
   * Yields the events of a run with a `seq` above `after`, then new events until the run ends, whichever process executes it.
   *
   * @throws AlliumError `session.not_found`
   */
  attach(run: string, options?: AttachOptions): AsyncGenerator<AttachedEvent, undefined>
  /**
   * Stops a run at its next step, whichever process executes it, even if that process is lost first. Returns false if the run has ended.
   */
  stop(run: string, options?: StopOptions): Promise<boolean>
  /**
   * Continues a failed run from its recorded steps if its session has not changed since. Returns false if it has.
   *
   * @throws AlliumError `run.version` if the run began with a version that this process does not accept
   */
  retry(run: string, options?: RetryOptions): Promise<boolean>
  /**
   * Replays the recorded steps of a run of another version with the code of this process, and moves the run to this version if they fit. No
   * step runs and nothing is recorded or reported, but the code around the steps runs. With `dryRun`, the run stays as it is.
   *
   * @throws AlliumError `run.version` if `to` is not the version of this process, `run.options` if the run has ended
   */
  migrate(run: string, options: RunAccess & MigrateOptions): Promise<Migration>
  get(run: string, options?: RunAccess): Promise<RunInfo>
  /**
   * Returns the run that continues with the agent that this run handed its session off to; undefined if it handed nothing off. It exists before
   * this run ends.
   */
  following(run: string, options?: RunAccess): Promise<string | undefined>
  /** Returns a run of a server, and those that continue after its handoffs, as one run. The server calls it. */
  follow<R extends object>(run: R, open: (turnId: string) => R, principal: unknown): Promise<R>
  list(options: ListOptions): Promise<Page<Omit<DurableRun, 'task'>>>
  /**
   * Polls the store once and claims the runs that this process may execute. Returns their number. Also happens every quarter of a lease.
   */
  recover(): Promise<number>
  /**
   * Stops claiming runs and waits for those in progress. After one lease, other processes continue them from their next step.
   *
   * @param options.timeout milliseconds after which steps in progress are abandoned too; another process repeats them @default none
   */
  drain(options?: { timeout?: number | undefined }): Promise<void>
}

/**
 * Makes the runs of an agent durable. Each step is recorded in the store. If a process is lost, another process takes the run over and
 * replays the recorded steps. Polls the store until `drain()`.
 *
 * @throws AlliumError `agent.options` if the agent has no `version`, if a number or a queue is invalid, if there is no event log, if the agent does not store its sessions,
 * or if a layer redacts and the store does not encrypt: tasks are stored before any layer sees them
 *
 * @example
 * const runs = durable(agent, { store })
 * const { run } = await runs.start({ principal, sessionId: 'chat-1', input: 'Hello' })
 * for await (const { event } of runs.attach(run, { principal })) console.log(event)
 */
export function durable(agent: DurableAgent, options: DurableOptions): Durable {
  checkDurableOptions(options)
  const host = hostFor(agent, options, async (...of) => (await handoffs()).continueRun(worker, ...of))
  const { runs, sessions, events } = host
  checkLayers(agent, runs.sealed)
  const worker: Worker = new Worker(host, { denyOverdue: (calls) => denyOverdue(worker, calls) })
  const made: Durable = {
    agent,
    sessions,
    events,
    start: (request) => startRun(worker, request),
    attach: (run, access) => attach(worker, run, access),
    stop: (run, access) => stopRun(worker, run, access),
    retry: (run, access) => retryRun(worker, run, access),
    migrate: (run, access) => migrateRun(worker, run, access),
    get: (run, access) => runInfo(worker, run, access),
    following: async (run, access) => (await handoffs()).followingRun(worker, run, access),
    async follow(run, open, principal) {
      // Only agents of a group hand sessions off.
      if (!('agents' in agent)) return run
      const { FollowedRun, followingRun } = await handoffs()
      const following = (turnId: string) => followingRun(worker, turnId, { principal })
      // A server calls it with its own runs.
      return new FollowedRun(run as never, { following, open: open as never }) as never
    },
    list: ({ limit = 50, ...filter }) => runs.list({ limit, ...filter, agents: host.names }),
    recover: () => worker.poll(),
    drain: ({ timeout } = {}) => worker.drain(timeout),
  }
  setHost(made, host)
  return made
}

/** Only sessions that are handed off need it. */
const handoffs = () => import('@allium/durable/followed-run')

function hostFor(agent: DurableAgent, options: DurableOptions, onHandoff: Host['continueRun']): Host {
  const { runs, sessions, schedules } = options.store
  const { events = options.store.events, clock = systemClock, logger = console, accepts = [], onEvent } = options
  const { worker = `${process.env.HOSTNAME ?? 'process'}:${process.pid}`, resolvePrincipal } = options
  const limits = limitsOf(options)
  if (events === undefined) throw agentOptionsError('durable() needs an event log. Pass "events" or a store with one.')
  return {
    ...codeOf(agent, accepts),
    ...{ runs, sessions, schedules, events },
    ...limits,
    queues: new Queues(options.queues),
    clock,
    logger,
    worker,
    resolvePrincipal,
    unloggedEnds: new UnloggedEnds(),
    marksEnds: events === options.store.events,
    found: { turn: false },
    pollHooks: new Set(),
    continueRun: onHandoff,
    report: (event) => {
      try {
        onEvent?.(event)
      } catch (error) {
        logger.warn('The option onEvent of durable() threw an error.', { error })
      }
    },
  }
}

function codeOf(agent: DurableAgent, accepts: readonly string[]): AgentCode {
  const { version } = agent
  if (version === undefined)
    throw agentOptionsError(
      `durable() needs a version. Give "${agent.name}" a version that names the build, such as new Agent({ version: '1.4' }).`,
    )
  const names = [agent.name, ...agent.formerNames]
  const versions = [version, ...accepts]
  const agents = names.flatMap((name) => versions.map((one) => ({ name, version: one })))
  let shape: ReturnType<typeof storedShapeOf> | undefined
  return {
    ...{ agent, names, version, versions, agents },
    // At the first run, when all layers are there. The tools of some are there only after init().
    shape: async () => {
      await agent.init()
      shape ??= storedShapeOf(agent)
      return shape
    },
  }
}

function checkLayers(agent: DurableAgent, sealed: boolean): void {
  const { layers } = agent.inspect()
  const is = (role: string) => layers.find(({ order }) => order.is?.includes(role) === true)?.name
  if (is('sessionStorage') === undefined)
    throw agentOptionsError(
      `durable() needs an agent that stores its sessions. Give "${agent.name}" a store, or use memory.persist({ store: store.sessions }).`,
    )
  const redacts = is('redacts')
  if (redacts !== undefined && !sealed)
    throw agentOptionsError(
      `The layer "${redacts}" redacts, but durable() stores a task before any layer sees it. Set "encrypt" on the store.`,
    )
}
