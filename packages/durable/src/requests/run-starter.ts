import { callsInside, type DurableRun, type ExpiredCalls } from '@allium/store'
import type { Host } from '../host/host.ts'
import type { StartOptions } from '../options.ts'
import { inputDigestOf, sessionIdOf, storedTask, type Task, taskOf } from '../run/task.ts'
import type { Worker } from '../worker/worker.ts'
import type { StartedRun } from './owned-runs.ts'

interface NewRun extends Pick<StartOptions, 'runAt' | 'onBusy' | 'queue' | 'priority'> {
  key: DurableRun['key']
  task: Task
  decidedCalls?: readonly string[] | undefined
}

/** Stores new runs. The worker starts one at once if it has room. */
export class RunStarter {
  readonly #host: Host
  readonly #worker: Worker

  constructor(host: Host, worker: Worker) {
    this.#host = host
    this.#worker = worker
  }

  async start(options: StartOptions): Promise<StartedRun> {
    const { code, queues, stores } = this.#host
    const task = taskOf(options)
    queues.limits(options.queue ?? 'default')
    await code.agent.init()
    // A repeated start of a run without a session has to find the session of the first one.
    const id = options.sessionId ?? (await sessionIdOf(task.idempotencyKey))
    const session = code.agent.session({ ...(id !== undefined && { id }), principal: task.principal as never })
    const { key } = session
    await this.#adopt(key)
    const existing = task.idempotencyKey === undefined ? undefined : await stores.runs.find(key, task.idempotencyKey)
    let decidedCalls: readonly string[] | undefined
    try {
      if (task.decisions !== undefined && existing === undefined) {
        await session.open()
        const by = task.approver === undefined ? {} : { approver: task.approver as never }
        decidedCalls = await session.checkDecisions(task.decisions, by)
      }
    } finally {
      await session.close()
    }
    return this.#add({ ...options, key, task, decidedCalls })
  }

  /** Denies calls that were not decided in time, by a new run. */
  async denyOverdue({ run, callIds }: ExpiredCalls): Promise<void> {
    const { queues, stores } = this.#host
    const { principal } = storedTask(run.task)
    const { key, priority } = run
    const calls = (await stores.sessions.head(key, { turnId: run.run }))?.rest.suspension?.calls
    const overdue = callIds.flatMap((id) => callsInside(id, calls?.[id]))
    const decisions = Object.fromEntries(overdue.map((id) => [id, { deny: 'Nobody decided in time.' }]))
    const queue = queues.has(run.queue) ? run.queue : 'default'
    await this.#add({ key, queue, priority, task: { principal, decisions }, decidedCalls: callIds }).catch((error) => {
      if ((error as { code?: unknown }).code !== 'approval.used') throw error
    })
  }

  async #add({ key, task, decidedCalls, runAt, onBusy, queue = 'default', priority }: NewRun): Promise<StartedRun> {
    const { code, clock, limits, stores } = this.#host
    const { agent, version } = code
    const { idempotencyKey } = task
    // An agent that shares the session with others is part of the digest.
    const sharedName = key.agent === agent.name ? undefined : agent.name
    const fingerprint = idempotencyKey === undefined ? {} : { fingerprint: await inputDigestOf(task, sharedName) }
    const request = {
      ...{ run: crypto.randomUUID(), key, agent: agent.name, version, runAt, queue, priority },
      task: { ...task, code: await code.shape(), version },
    }
    const added = await this.#worker.startNew(queue, (claim) =>
      stores.runs.add(
        { ...request, resolvedCalls: decidedCalls, idempotencyKey, ...fingerprint },
        { ...claim, ...(onBusy === 'reject' && { unlessBusy: limits.lease }) },
      ),
    )
    const { run, runAt: startsAt } = added.run
    if (added.isNew && startsAt > clock.now())
      clock.after(startsAt - clock.now(), () => void this.#worker.poll('waiting').catch(() => {}), { idle: true })
    return { run, turnId: run, sessionId: key.sessionId }
  }

  /** Moves a session that is stored under another name of the agent. */
  async #adopt(key: DurableRun['key']): Promise<void> {
    const others = this.#host.code.agent.sessionNames.filter((name) => name !== key.agent)
    if (others.length > 0) await this.#host.stores.sessions.rename(key, others)
  }
}
