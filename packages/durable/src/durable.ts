import { AlliumError, type Input, systemClock, type Usage } from '@allium/core'
import type { DurableRun, DurableStatus, EventLog, ExpiredCalls, LoggedEvent, Page, SessionStore } from '@allium/store'
import { type Host, notFound, publicError } from './host.ts'
import {
  checkBounds,
  checkDurableOptions,
  type DurableAgent,
  type DurableOptions,
  type StartOptions,
} from './options.ts'
import { inputDigestOf, storedTask, type Task, taskOf } from './task.ts'
import { UnloggedEnds } from './unlogged-ends.ts'
import { Worker } from './worker.ts'

/** A run that is stored and will be executed. */
export interface StartedRun {
  readonly run: string
  readonly turnId: string
  readonly sessionId: string
}

/** The status and outcome of a run. */
export interface RunInfo extends StartedRun {
  readonly status: DurableStatus
  /** Earliest start, in milliseconds since the epoch. */
  readonly runAt: number
  /** The input, as long as the run may be executed again. */
  readonly input?: Input
  readonly code?: string
  readonly reason?: string
  /** The answer of a run that has ended. */
  readonly text?: string
  readonly usage?: Usage
}

interface RunAccess {
  readonly principal?: unknown
}

/** The durable runs of an agent. They outlive their process. */
export interface Durable {
  readonly agent: DurableAgent
  /** The store of the runs' sessions. */
  readonly sessions: SessionStore
  readonly events: EventLog
  /**
   * Stores a task. Starts it here immediately if it is due and its session is free. Checks decisions, and consumes them with the task.
   *
   * @throws AlliumError `run.options`, `run.key_reused`, `approval.*`, `session.busy` with `onBusy: 'reject'`
   */
  start(options: StartOptions): Promise<StartedRun>
  /**
   * Yields the events of a run with a `seq` above `after`, then new events until the run ends, whichever process executes it.
   *
   * @throws AlliumError `session.not_found`
   */
  attach(
    run: string,
    options?: RunAccess & { after?: number; signal?: AbortSignal },
  ): AsyncGenerator<LoggedEvent, undefined>
  /**
   * Stops a run at its next step, whichever process executes it, even if that process is lost first. Returns false if the run has ended.
   */
  stop(run: string, options?: RunAccess & { reason?: string }): Promise<boolean>
  /** Continues a failed run from its recorded steps if its session has not changed since. Returns false if it has. */
  retry(run: string, options?: RunAccess): Promise<boolean>
  get(run: string, options?: RunAccess): Promise<RunInfo>
  list(options: {
    tenant: string
    status?: DurableStatus
    cursor?: string
    limit?: number
  }): Promise<Page<Omit<DurableRun, 'task'>>>
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
 * @throws AlliumError `agent.options` if a number is not above 0, if there is no event log, if the agent does not store its sessions,
 * or if a layer redacts and the store does not encrypt: tasks are stored before any layer sees them
 *
 * @example
 * const runs = durable(agent, { store })
 * const { run } = await runs.start({ principal, sessionId: 'chat-1', input: 'Hello' })
 * for await (const { event } of runs.attach(run, { principal })) console.log(event)
 */
export function durable(agent: DurableAgent, options: DurableOptions): Durable {
  checkDurableOptions(options)
  const { store, lease = 10_000, attempts = 5, orphanAfter = 600_000, retention = 604_800_000 } = options
  const { clock = systemClock, logger = console, events = store.events } = options
  checkBounds({ lease, attempts, orphanAfter, retention })
  if (events === undefined)
    throw new AlliumError('agent.options', 'durable() needs an event log: give "events", or a store that has one.')
  checkLayers(agent, store.runs.sealed)
  const { runs, sessions } = store
  const version = agent.version ?? ''
  const names = [agent.name, ...agent.formerNames]
  const localRuns = new Set<string>()
  const unloggedEnds = new UnloggedEnds()
  const host: Host = {
    ...{ agent, names, version, runs, sessions, events, clock, logger, options, lease, attempts, publicError },
    startedHere: (run) => localRuns.delete(run),
    reportUnloggedEnd: (run, error) => unloggedEnds.end(run, error),
    expire,
  }
  const worker = new Worker(host)
  return {
    agent,
    sessions,
    events,
    start,
    attach,
    stop,
    retry,
    get,
    list,
    recover: () => worker.poll(),
    drain: ({ timeout } = {}) => worker.drain(timeout),
  }

  async function start(startOptions: StartOptions): Promise<StartedRun> {
    const task = taskOf(startOptions)
    await agent.init()
    const session = agent.session({
      ...(startOptions.sessionId !== undefined && { id: startOptions.sessionId }),
      principal: task.principal as never,
    })
    const { key } = session
    await adopt(key)
    const existing = task.idempotencyKey === undefined ? undefined : await runs.find(key, task.idempotencyKey)
    let decidedCalls: readonly string[] | undefined
    try {
      if (task.decisions !== undefined && existing === undefined) {
        await session.open()
        decidedCalls = await session.checkDecisions(
          task.decisions,
          task.approver === undefined ? {} : { approver: task.approver as never },
        )
      }
    } finally {
      await session.close()
    }
    return add({ key, task, runAt: startOptions.runAt, decidedCalls, onBusy: startOptions.onBusy })
  }

  async function add({
    key,
    task,
    runAt,
    decidedCalls,
    onBusy,
  }: {
    key: DurableRun['key']
    task: Task
    runAt?: number | undefined
    decidedCalls?: readonly string[] | undefined
    onBusy?: StartOptions['onBusy']
  }) {
    const id = crypto.randomUUID()
    localRuns.add(id)
    // Drop the oldest id: an id whose run another process claimed is removed only here.
    if (localRuns.size > maxLocalRuns) localRuns.delete(localRuns.values().next().value as string)
    const { claim } = worker
    const added = await runs.add(
      {
        run: id,
        key,
        agent: agent.name,
        version,
        task,
        runAt,
        resolvedCalls: decidedCalls,
        idempotencyKey: task.idempotencyKey,
        ...(task.idempotencyKey !== undefined && { fingerprint: await inputDigestOf(task, sharedAgentName(key)) }),
      },
      { ...(claim !== undefined && { claim }), ...(onBusy === 'reject' && { unlessBusy: lease }) },
    )
    const { run } = added.run
    if (!added.isNew) localRuns.delete(id)
    else if (added.lease !== undefined) await worker.start({ run: added.run, lease: added.lease })
    else if (added.run.runAt > clock.now())
      clock.after(added.run.runAt - clock.now(), () => void worker.poll().catch(() => {}), { idle: true })
    return { run, turnId: run, sessionId: key.sessionId }
  }

  async function* attach(
    run: string,
    { principal, after = 0, signal }: RunAccess & { after?: number; signal?: AbortSignal } = {},
  ): AsyncGenerator<LoggedEvent, undefined> {
    const { key } = await findOwned(run, principal)
    const watch = unloggedEnds.watch(run)
    const abortSignal =
      signal === undefined ? watch.abortController.signal : AbortSignal.any([signal, watch.abortController.signal])
    try {
      let seq = after
      for await (const logged of readEvents(run, { key, principal, after, signal: abortSignal })) {
        seq = logged.seq
        yield logged
      }
      if (watch.error === undefined) return undefined
      yield { seq: seq + 1, event: { event: { type: 'run:error', ...publicError(watch.error) } } }
      return undefined
    } finally {
      watch.stop()
    }
  }

  async function* readEvents(
    run: string,
    {
      key,
      principal,
      after,
      signal,
    }: { key: DurableRun['key']; principal: unknown; after: number; signal: AbortSignal },
  ): AsyncGenerator<LoggedEvent, undefined> {
    const isAborted = () => signal.aborted
    let seq = after
    while (!isAborted()) {
      for await (const logged of events?.read({ key, turnId: run }, seq, signal) ?? []) {
        seq = logged.seq
        yield logged
      }
      if (isAborted()) break
      const { status } = await findOwned(run, principal)
      const latest = await events?.latest(key)
      const isOpen = latest?.turnId === run && !latest.ended
      if (!isOpen && status !== 'queued' && (status !== 'running' || seq > 0)) return undefined
      await new Promise<void>((resolve) => clock.after(Math.min(1000, lease / 10), resolve))
    }
    return undefined
  }

  async function stop(
    run: string,
    { principal, reason = 'stopped' }: RunAccess & { reason?: string } = {},
  ): Promise<boolean> {
    const { key } = await findOwned(run, principal)
    const isStopping = await runs.stop({ tenant: key.tenant, run }, reason)
    if (!isStopping) return false
    await events?.signal({ key, turnId: run }, { stop: true })
    await worker.poll().catch(() => {})
    return true
  }

  async function retry(run: string, { principal }: RunAccess = {}): Promise<boolean> {
    const { key } = await findOwned(run, principal)
    const isQueued = await runs.retry({ tenant: key.tenant, run })
    if (isQueued) await worker.poll()
    return isQueued
  }

  async function get(run: string, { principal }: RunAccess = {}): Promise<RunInfo> {
    const { key, status, runAt, task, code, reason } = await findOwned(run, principal)
    const { input } = storedTask(task)
    const turn = await sessions.find(key, { turnId: run })
    return {
      run,
      turnId: run,
      sessionId: key.sessionId,
      status,
      runAt,
      ...(input !== undefined && { input }),
      ...(code !== undefined && { code }),
      ...((reason ?? turn?.reason) !== undefined && { reason: reason ?? turn?.reason }),
      ...(turn?.answer !== undefined && turn.answer !== null && { text: turn.answer }),
      ...(turn !== undefined && { usage: turn.usage }),
    }
  }

  function list({ limit = 50, ...options }: Parameters<Durable['list']>[0]) {
    return runs.list({ limit, ...options, agents: names })
  }

  /** Moves a session that is stored under another name of the agent. */
  async function adopt(key: DurableRun['key']): Promise<void> {
    const others = agent.sessionNames.filter((name) => name !== key.agent)
    if (others.length > 0) await sessions.rename(key, others)
  }

  /**
   * Returns the agent's name if several agents share the session, because then the name is part of the input digest of an idempotency key.
   */
  function sharedAgentName(key: DurableRun['key']): string | undefined {
    return key.agent === agent.name ? undefined : agent.name
  }

  /** @throws AlliumError `session.not_found`, also for a run of another owner or agent */
  async function findOwned(run: string, principal: unknown): Promise<DurableRun> {
    const { tenant, owner } = agent.session({ principal: principal as never }).key
    const found = await runs.get({ tenant, run })
    if (found === undefined || found.key.owner !== owner || !names.includes(found.agent)) throw notFound(run)
    return found
  }

  /** Denies calls that were not decided in time, by a new run. */
  async function expire({ run, callIds }: ExpiredCalls): Promise<void> {
    const { principal } = storedTask(run.task)
    const decisions = Object.fromEntries(callIds.map((id) => [id, { deny: 'Nobody decided in time.' }]))
    await add({ key: run.key, task: { principal, decisions }, decidedCalls: callIds }).catch((error) => {
      if ((error as { code?: unknown }).code !== 'approval.used') throw error
    })
  }
}

/** Upper bound of `localRuns`, the ids of runs that were added here and have not started here. */
const maxLocalRuns = 10_000

function checkLayers(agent: DurableAgent, sealed: boolean): void {
  const { layers } = agent.inspect()
  const is = (role: string) => layers.find(({ order }) => order.is?.includes(role) === true)?.name
  if (is('sessionStorage') === undefined)
    throw new AlliumError(
      'agent.options',
      `durable() runs an agent that keeps its sessions: give "${agent.name}" a store, or use memory.persist({ store: store.sessions }).`,
    )
  const redacts = is('redacts')
  if (redacts !== undefined && !sealed)
    throw new AlliumError(
      'agent.options',
      `The layer "${redacts}" redacts, and durable() stores a task before any layer saw it. Give the store "encrypt".`,
    )
}
