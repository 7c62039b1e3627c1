import { AlliumError } from '@allium/core'
import type { DurableRun, DurableStatus, Page } from '@allium/store'
import type { Host } from '../host/host.ts'
import { type MigrateOptions, type Migration, migrate } from '../migration/migrate.ts'
import type { StartOptions } from '../options.ts'
import { pendingCallsOf } from '../run/pending-calls.ts'
import { storedTask } from '../run/task.ts'
import { Worker } from '../worker/worker.ts'
import { OwnedRuns, type RunAccess, type StartedRun } from './owned-runs.ts'
import { type AttachedEvent, type AttachOptions, RunEvents } from './run-events.ts'
import { outcomeOf, type RunInfo } from './run-info.ts'
import { RunStarter } from './run-starter.ts'

export interface ListOptions {
  tenant: string
  status?: DurableStatus
  /** The code that a run failed with, such as `run.attempts`. */
  code?: string
  cursor?: string
  limit?: number
}

/** Stores the runs of an agent, follows their events, and ends them. Its worker executes them. */
export class DurableRuns {
  readonly worker: Worker
  readonly #host: Host
  readonly #owned: OwnedRuns
  readonly #starter: RunStarter
  readonly #events: RunEvents

  constructor(host: Host) {
    this.#host = host
    this.worker = new Worker(host, { denyOverdue: (expired) => this.#starter.denyOverdue(expired) })
    this.#owned = new OwnedRuns(host, this.worker)
    this.#starter = new RunStarter(host, this.worker)
    this.#events = new RunEvents(host, this.#owned)
  }

  start(options: StartOptions): Promise<StartedRun> {
    return this.#starter.start(options)
  }

  attach(run: string, options: AttachOptions = {}): AsyncGenerator<AttachedEvent, undefined> {
    return this.#events.attach(run, options)
  }

  async stop(run: string, { principal, reason = 'stopped' }: RunAccess & { reason?: string } = {}): Promise<boolean> {
    const { runs, events } = this.#host.stores
    const { key } = await this.#owned.find(run, principal)
    const isStopping = await runs.stop({ tenant: key.tenant, run }, reason)
    if (!isStopping) return false
    await events.signal({ key, turnId: run }, { stop: true })
    await this.worker.poll().catch(() => {})
    return true
  }

  async retry(run: string, { principal, orThrow = false }: RunAccess & { orThrow?: boolean } = {}): Promise<boolean> {
    const { versions } = this.#host.code
    const { key, version } = await this.#owned.find(run, principal)
    if (!versions.includes(version)) throw otherVersion(run, version, versions)
    const isQueued = await this.#host.stores.runs.retry({ tenant: key.tenant, run })
    if (isQueued) await this.worker.poll()
    else if (orThrow) throw notRetryable(run, await this.get(run, { principal }))
    return isQueued
  }

  async migrate(run: string, { principal, ...options }: RunAccess & MigrateOptions): Promise<Migration> {
    await this.#host.code.agent.init()
    const migration = await migrate(this.#host, await this.#owned.find(run, principal), options)
    if (migration.moved) await this.worker.poll()
    return migration
  }

  async get(run: string, { principal }: RunAccess = {}): Promise<RunInfo> {
    const { sessions } = this.#host.stores
    const found = await this.#owned.find(run, principal)
    const { key, status, queue, priority, runAt, task, code } = found
    const { input, principal: owner } = storedTask(task)
    const turn = await sessions.find(key, { turnId: run })
    const resumed = turn?.resumes === undefined ? undefined : await sessions.find(key, { turnId: turn.resumes })
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
    const { code, stores } = this.#host
    return stores.runs.list({ limit, ...options, agents: code.names })
  }
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
