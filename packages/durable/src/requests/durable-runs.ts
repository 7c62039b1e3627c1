import { AlliumError } from '@allium/core'
import {
  callsInside,
  type DurableRun,
  type DurableStatus,
  type ExpiredCalls,
  type LoggedEvent,
  type Page,
} from '@allium/store'
import { type Entry, toEntry } from '@allium/store/event-log'
import { type Host, notFound, publicError } from '../host/host.ts'
import { type MigrateOptions, type Migration, migrate } from '../migration/migrate.ts'
import type { StartOptions } from '../options.ts'
import { pendingCallsOf } from '../run/pending-calls.ts'
import { isEnd } from '../run/run-reporter.ts'
import { inputDigestOf, sessionIdOf, storedTask, type Task, taskOf } from '../run/task.ts'
import { Worker } from '../worker/worker.ts'
import { outcomeOf, type RunInfo } from './run-info.ts'
import { UnloggedEnds } from './unlogged-ends.ts'

/** A run that is stored and will be executed. */
export interface StartedRun {
  readonly run: string
  readonly turnId: string
  readonly sessionId: string
}

export interface RunAccess {
  readonly principal?: unknown
}

interface NewRun extends Pick<StartOptions, 'runAt' | 'onBusy' | 'queue' | 'priority'> {
  key: DurableRun['key']
  task: Task
  decidedCalls?: readonly string[] | undefined
}

export interface ListOptions {
  tenant: string
  status?: DurableStatus
  /** The code that a run failed with, such as `run.attempts`. */
  code?: string
  cursor?: string
  limit?: number
}

/** An event of a run, with its position: pass its `seq` as `after` to continue from here. */
export interface AttachedEvent {
  readonly seq: number
  /** `event.event` is an event of the stream. */
  readonly event: Entry
}

/** Stores the runs of an agent, follows their events, and ends them. Its worker executes them. */
export class DurableRuns {
  readonly worker: Worker
  /** For other entry points of this package. */
  readonly host: Host
  readonly #host: Host
  readonly #unloggedEnds = new UnloggedEnds()

  constructor(setup: Omit<Host, 'names' | 'publicError' | 'report' | 'reportUnloggedEnd' | 'expire' | 'pollHooks'>) {
    const { agent } = setup
    this.host = {
      ...setup,
      names: [agent.name, ...agent.formerNames],
      publicError,
      pollHooks: new Set(),
      report: (event) => {
        try {
          setup.options.onEvent?.(event)
        } catch (error) {
          setup.logger.warn('The option onEvent of durable() threw an error.', { error })
        }
      },
      reportUnloggedEnd: (run, error) => this.#unloggedEnds.end(run, error),
      expire: (expired) => this.#expire(expired),
    }
    this.#host = this.host
    this.worker = new Worker(this.#host)
  }

  async start(startOptions: StartOptions): Promise<StartedRun> {
    const task = taskOf(startOptions)
    this.#host.queues.limits(startOptions.queue ?? 'default')
    await this.#host.agent.init()
    // A repeated start of a run without a session has to find the session of the first one.
    const id = startOptions.sessionId ?? (await sessionIdOf(task.idempotencyKey))
    const session = this.#host.agent.session({
      ...(id !== undefined && { id }),
      principal: task.principal as never,
    })
    const { key } = session
    await this.#adopt(key)
    const existing =
      task.idempotencyKey === undefined ? undefined : await this.#host.runs.find(key, task.idempotencyKey)
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
    return this.#add({ ...startOptions, key, task, decidedCalls })
  }

  async #add({ key, task, decidedCalls, runAt, onBusy, queue = 'default', priority }: NewRun) {
    const { agent, version, lease, clock } = this.#host
    const { idempotencyKey } = task
    const fingerprint =
      idempotencyKey === undefined ? {} : { fingerprint: await inputDigestOf(task, this.#sharedAgentName(key)) }
    const code = await this.#host.shape()
    const request = {
      run: crypto.randomUUID(),
      key,
      agent: agent.name,
      version,
      task: { ...task, code, version },
      runAt,
      queue,
      priority,
    }
    const added = await this.worker.startNew(queue, (claim) =>
      this.#host.runs.add(
        { ...request, resolvedCalls: decidedCalls, idempotencyKey, ...fingerprint },
        { ...claim, ...(onBusy === 'reject' && { unlessBusy: lease }) },
      ),
    )
    const { run, runAt: startsAt } = added.run
    if (added.isNew && startsAt > clock.now())
      clock.after(startsAt - clock.now(), () => void this.worker.poll('waiting').catch(() => {}), { idle: true })
    return { run, turnId: run, sessionId: key.sessionId }
  }

  async *attach(
    run: string,
    { principal, after = 0, signal }: RunAccess & { after?: number; signal?: AbortSignal } = {},
  ): AsyncGenerator<AttachedEvent, undefined> {
    const { key } = this.#findLive(run, principal) ?? (await this.#findOwned(run, principal))
    const watch = this.#unloggedEnds.watch(run)
    const abortSignal =
      signal === undefined ? watch.abortController.signal : AbortSignal.any([signal, watch.abortController.signal])
    try {
      let seq = after
      for await (const logged of this.#readEvents(run, { key, principal, after, signal: abortSignal })) {
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

  async *#readEvents(
    run: string,
    {
      key,
      principal,
      after,
      signal,
    }: { key: DurableRun['key']; principal: unknown; after: number; signal: AbortSignal },
  ): AsyncGenerator<AttachedEvent, undefined> {
    const isAborted = () => signal.aborted
    let seq = after
    let isOver = false
    while (!isAborted()) {
      for await (const logged of this.#host.events.read({ key, turnId: run }, seq, signal)) {
        seq = logged.seq
        isOver ||= isFinal(logged)
        yield { seq, event: toEntry(logged) }
      }
      if (isOver || isAborted()) break
      const { status } = await this.#findOwned(run, principal)
      const latest = await this.#host.events.latest(key)
      const isOpen = latest?.turnId === run && !latest.ended
      if (!isOpen && status !== 'queued' && (status !== 'running' || seq > 0)) return undefined
      await new Promise<void>((resolve) => this.#host.clock.after(Math.min(1000, this.#host.lease / 10), resolve))
    }
    return undefined
  }

  async stop(run: string, { principal, reason = 'stopped' }: RunAccess & { reason?: string } = {}): Promise<boolean> {
    const { key } = await this.#findOwned(run, principal)
    const isStopping = await this.#host.runs.stop({ tenant: key.tenant, run }, reason)
    if (!isStopping) return false
    await this.#host.events.signal({ key, turnId: run }, { stop: true })
    await this.worker.poll().catch(() => {})
    return true
  }

  async retry(run: string, { principal, orThrow = false }: RunAccess & { orThrow?: boolean } = {}): Promise<boolean> {
    const { key, version } = await this.#findOwned(run, principal)
    if (!this.#host.versions.includes(version)) throw otherVersion(run, version, this.#host.versions)
    const isQueued = await this.#host.runs.retry({ tenant: key.tenant, run })
    if (isQueued) await this.worker.poll()
    else if (orThrow) throw notRetryable(run, await this.get(run, { principal }))
    return isQueued
  }

  async migrate(run: string, { principal, ...options }: RunAccess & MigrateOptions): Promise<Migration> {
    await this.#host.agent.init()
    const migration = await migrate(this.#host, await this.#findOwned(run, principal), options)
    if (migration.moved) await this.worker.poll()
    return migration
  }

  async get(run: string, { principal }: RunAccess = {}): Promise<RunInfo> {
    const found = await this.#findOwned(run, principal)
    const { key, status, queue, priority, runAt, task, code } = found
    const { input, principal: owner } = storedTask(task)
    const turn = await this.#host.sessions.find(key, { turnId: run })
    const resumed =
      turn?.resumes === undefined ? undefined : await this.#host.sessions.find(key, { turnId: turn.resumes })
    const reason = found.reason ?? turn?.reason
    return {
      run,
      turnId: run,
      sessionId: key.sessionId,
      status,
      queue,
      priority,
      runAt,
      ...(input !== undefined && { input }),
      ...(code !== undefined && { code }),
      ...(reason !== undefined && { reason }),
      ...outcomeOf(turn, resumed),
      ...(status === 'suspended' && { pending: await pendingCallsOf(this.#host, found, owner ?? principal) }),
    }
  }

  list({ limit = 50, ...options }: ListOptions): Promise<Page<Omit<DurableRun, 'task'>>> {
    return this.#host.runs.list({ limit, ...options, agents: this.#host.names })
  }

  /** Moves a session that is stored under another name of the agent. */
  async #adopt(key: DurableRun['key']): Promise<void> {
    const others = this.#host.agent.sessionNames.filter((name) => name !== key.agent)
    if (others.length > 0) await this.#host.sessions.rename(key, others)
  }

  /**
   * Returns the agent's name if several agents share the session, because then the name is part of the input digest of an idempotency key.
   */
  #sharedAgentName(key: DurableRun['key']): string | undefined {
    return key.agent === this.#host.agent.name ? undefined : this.#host.agent.name
  }

  /** @throws AlliumError `session.not_found`, also for a run of another owner or agent */
  async #findOwned(run: string, principal: unknown): Promise<DurableRun> {
    const { tenant, owner } = this.#host.agent.session({ principal: principal as never }).key
    const found = await this.#host.runs.get({ tenant, run })
    if (found === undefined || found.key.owner !== owner || !this.#host.names.includes(found.agent)) throw notFound(run)
    return found
  }

  /** Returns a run that this process executes, if the principal owns it. */
  #findLive(run: string, principal: unknown): DurableRun | undefined {
    const live = this.worker.find(run)
    if (live === undefined) return undefined
    const { tenant, owner } = this.#host.agent.session({ principal: principal as never }).key
    return live.key.tenant === tenant && live.key.owner === owner ? live : undefined
  }

  /** Denies calls that were not decided in time, by a new run. */
  async #expire({ run, callIds }: ExpiredCalls): Promise<void> {
    const { principal } = storedTask(run.task)
    const { key, priority } = run
    const calls = (await this.#host.sessions.head(key, { turnId: run.run }))?.rest.suspension?.calls
    const overdue = callIds.flatMap((id) => callsInside(id, calls?.[id]))
    const decisions = Object.fromEntries(overdue.map((id) => [id, { deny: 'Nobody decided in time.' }]))
    const queue = this.#host.queues.has(run.queue) ? run.queue : 'default'
    await this.#add({ key, queue, priority, task: { principal, decisions }, decidedCalls: callIds }).catch((error) => {
      if ((error as { code?: unknown }).code !== 'approval.used') throw error
    })
  }
}

/** Whether an event ends a run that cannot be retried. A failed run can, and a sub-agent's run has its own end. */
function isFinal(logged: LoggedEvent): boolean {
  const entry = toEntry(logged)
  return isEnd(entry) && (entry.event as { status?: unknown }).status !== 'failed'
}

function notRetryable(run: string, { status, usage }: RunInfo): AlliumError {
  const reasons =
    status !== 'failed'
      ? `it is ${status}, not failed`
      : usage !== undefined
        ? 'its failed turn is stored in the session. Start a new run'
        : 'its session has changed since. Start a new run with its input'
  return new AlliumError('store.conflict', `The run "${run}" was not retried: ${reasons}.`, { details: { status } })
}

function otherVersion(run: string, version: string, accepted: readonly string[]): AlliumError {
  const names = (versions: readonly string[]) => versions.map((name) => `"${name}"`).join(', ')
  return new AlliumError(
    'run.version',
    `The run "${run}" has the version "${version}", and this process continues ${names(accepted)} only. Retry it in a process of that version, or pass accepts: ["${version}"] to durable().`,
    { details: { version } },
  )
}
