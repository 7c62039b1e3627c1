import type { Input } from '@allium/core'
import type { DurableRun } from '@allium/store'
import type { Task } from '../run/task.ts'
import type { Worker } from '../worker/worker.ts'
import { ownedRun, type RunAccess } from './owned-run.ts'
import { addRun } from './start-run.ts'

/** Starts the turn after a handoff, by a run that waits until the run that handed off has ended. A repeated call starts no other one. */
export async function continueRun(worker: Worker, run: DurableRun, task: Task, input: Input): Promise<void> {
  const { decisions: _, approver: __, operator: ___, ...same } = task
  const queue = worker.host.queues.has(run.queue) ? run.queue : 'default'
  const next = { ...same, input, idempotencyKey: continuationKey(run.run) }
  await addRun(worker, { key: run.key, queue, priority: run.priority, task: next })
}

/** Returns the run that continues after a handoff of a run. */
export async function followingRun(
  worker: Worker,
  run: string,
  { principal }: RunAccess = {},
): Promise<string | undefined> {
  const { key } = await ownedRun(worker, run, principal)
  return (await worker.host.runs.find(key, continuationKey(run)))?.run
}

function continuationKey(run: string): string {
  return `handoff:${run}`
}
