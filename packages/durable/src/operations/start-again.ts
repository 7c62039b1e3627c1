import { AlliumError } from '@allium/core'
import type { RunSummary } from '@allium/store'
import { storedTask } from '../run/task.ts'
import type { OperationsStore } from './options.ts'
import { runNotFound } from './run-not-found.ts'
import { shownRun } from './shown-run.ts'

/** Most timeline entries in which recorded effects are counted. */
const maxEntries = 100_000

/** The new run of `startAgain()`. */
export interface StartedAgain {
  readonly run: string
  /** False if the run was started again before. Then `run` is the run of that time. */
  readonly isNew: boolean
}

/** Adds a run with the request of one that failed or was aborted. @throws AlliumError `run.options` */
export async function startAgain(
  { runs, operations }: OperationsStore,
  { run, key }: RunSummary,
  { repeatEffects, beforeAdd }: { repeatEffects: boolean; beforeAdd(): Promise<unknown> },
): Promise<StartedAgain> {
  const scope = { tenant: key.tenant, run }
  const [stored, described] = await Promise.all([runs.get(scope), operations.describe({ ...scope, limit: maxEntries })])
  if (stored === undefined || described === undefined) throw runNotFound(run)
  if ((stored.status !== 'failed' && stored.status !== 'aborted') || stored.task === undefined)
    throw refused(run, `is ${described.run.status}${stored.task === undefined ? ' and its request is gone' : ''}`)
  // The key belongs to the former run.
  const { idempotencyKey: _, ...task } = storedTask(stored.task)
  if (task.decisions !== undefined) throw refused(run, 'decides calls that no longer wait')
  const effects = shownRun(described).timeline.filter(isEffect).length
  if (effects > 0 && !repeatEffects)
    throw new AlliumError(
      'run.options',
      `The run "${run}" has recorded ${effects} steps of tools and once(), which the new run does not know and may do again. Look at its timeline. If that is right, repeat the call with repeatEffects: true (on the command line: --repeat-effects).`,
    )
  await beforeAdd()
  // The owner may have been erased while the audit stored its record. The new run would bring their request back.
  if ((await runs.get(scope)) === undefined) throw runNotFound(run)
  const { agent, version, queue, priority, shape: digest } = stored
  // Repeating the call returns the same run.
  const once = { idempotencyKey: `operator:start_again:${run}`, fingerprint: run }
  const added = await runs.add({
    run: crypto.randomUUID(),
    key: stored.key,
    agent,
    version,
    task,
    queue,
    priority,
    ...(digest !== undefined && { shape: { digest } }),
    ...once,
  })
  return { run: added.run.run, isNew: added.isNew }
}

function isEffect(entry: ReturnType<typeof shownRun>['timeline'][number]): boolean {
  return entry.type === 'step' && (entry.kind === 'tool' || entry.kind === 'once')
}

function refused(run: string, why: string): AlliumError {
  return new AlliumError(
    'run.options',
    `The run "${run}" ${why}, so it cannot be started again. Only a run that failed or was aborted, and that has its request, can be.`,
  )
}
