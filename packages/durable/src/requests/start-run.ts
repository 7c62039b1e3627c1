import { callsInside, type DurableRun, type ExpiredCalls } from '@allium/store'
import type { AgentCode, Stores } from '../host/host.ts'
import { firstStepOf } from '../journal/run-journal.ts'
import type { StartOptions } from '../options.ts'
import { inputDigestOf, sessionIdOf, storedTask, type Task, taskOf } from '../run/task.ts'
import type { Worker } from '../worker/worker.ts'
import type { StartedRun } from './owned-run.ts'

interface NewRun extends Pick<StartOptions, 'runAt' | 'onBusy' | 'queue' | 'priority'> {
  key: DurableRun['key']
  task: Task
  decidedCalls?: readonly string[] | undefined
}

/** Stores a new run. The worker starts it at once if it is due and has room. */
export async function startRun(worker: Worker, options: StartOptions): Promise<StartedRun> {
  const { agent, queues, runs } = worker.host
  const task = taskOf(options)
  queues.limits(options.queue ?? 'default')
  await agent.init()
  // A repeated start of a run without a session has to find the session of the first one.
  const id = options.sessionId ?? (await sessionIdOf(task.idempotencyKey))
  const session = agent.session({ ...(id !== undefined && { id }), principal: task.principal as never })
  const { key } = session
  await adopt(worker.host, key)
  const existing = task.idempotencyKey === undefined ? undefined : await runs.find(key, task.idempotencyKey)
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
  return addRun(worker, { ...options, key, task, decidedCalls })
}

/** Denies calls that were not decided in time, by a new run. */
export async function denyOverdue(worker: Worker, { run, callIds }: ExpiredCalls): Promise<void> {
  const { queues, sessions } = worker.host
  const { principal } = storedTask(run.task)
  const { key, priority } = run
  const calls = (await sessions.head(key, { turnId: run.run }))?.rest.suspension?.calls
  const overdue = callIds.flatMap((id) => callsInside(id, calls?.[id]))
  const decisions = Object.fromEntries(overdue.map((id) => [id, { deny: 'Nobody decided in time.' }]))
  const queue = queues.has(run.queue) ? run.queue : 'default'
  await addRun(worker, { key, queue, priority, task: { principal, decisions }, decidedCalls: callIds }).catch(
    (error) => {
      if ((error as { code?: unknown }).code !== 'approval.used') throw error
    },
  )
}

export async function addRun(
  worker: Worker,
  { key, task, decidedCalls, runAt, onBusy, queue = 'default', priority }: NewRun,
): Promise<StartedRun> {
  const { agent, version, shape, clock, lease, runs } = worker.host
  const { idempotencyKey } = task
  // An agent that shares the session with others is part of the digest.
  const sharedName = key.agent === agent.name ? undefined : agent.name
  const fingerprint = idempotencyKey === undefined ? undefined : await inputDigestOf(task, sharedName)
  const id = crypto.randomUUID()
  const began = clock.now()
  const request = {
    ...{
      run: id,
      key,
      agent: agent.name,
      version,
      runAt,
      queue,
      priority,
      idempotencyKey,
      firstStep: firstStepOf(id, began),
    },
    ...{ task: { ...task, version }, shape: await shape(), resolvedCalls: decidedCalls, fingerprint },
  }
  const added = await worker.startNew({ queue, began }, (claim) =>
    runs.add(request, { ...claim, ...(onBusy === 'reject' && { unlessBusy: lease }) }),
  )
  const { run, runAt: startsAt } = added.run
  if (added.isNew && startsAt > clock.now())
    clock.after(startsAt - clock.now(), () => worker.pollSoon('waiting'), { idle: true })
  return { run, turnId: run, sessionId: key.sessionId }
}

/** Moves a session that is stored under another name of the agent. */
async function adopt({ agent, sessions }: AgentCode & Stores, key: DurableRun['key']): Promise<void> {
  const others = agent.sessionNames.filter((name) => name !== key.agent)
  if (others.length > 0) await sessions.rename(key, others)
}
