import { type AlliumError, isAlliumError } from '@allium/core'
import type { ClaimedRun, DurableRun, RecordedStep } from '@allium/store'
import type { Host } from '../host/host.ts'
import { differencesOf, otherCode, type Shapes, shapesOf } from './code-differences.ts'
import { currentOwner } from './current-owner.ts'
import { exposedError, isUnreadable } from './run-errors.ts'
import type { Task } from './task.ts'

/** What a run starts with, or why it can never start. */
export type Admission = AdmittedRun | { readonly refusal: AlliumError; readonly isStopped?: boolean }

export interface AdmittedRun {
  readonly principal: unknown
  readonly steps: readonly RecordedStep[]
  readonly shapes: Shapes | undefined
  /** Differences of the code that do not stop the run. */
  readonly drift: readonly string[]
}

/**
 * Checks a claimed run before it executes here: its task, version, attempts, owner, recorded steps and code.
 *
 * @param options.isNew the run was requested just now; otherwise its owner is looked up
 */
export async function admit(
  host: Host,
  { run, lease }: ClaimedRun,
  { task, isNew }: { task: Task; isNew: boolean },
): Promise<Admission> {
  const refusal = refusalOf(host, run)
  if (refusal !== undefined) return { refusal }
  const owner = await ownerOf(host, run, { task, isNew })
  if (owner === undefined)
    return { refusal: exposedError('run.principal', 'The principal of the run no longer exists.') }
  // A new run has none.
  const steps = isNew ? [] : await recordedSteps(host, { run, lease })
  if (isAlliumError(steps)) return { refusal: steps }
  const shapes = await shapesOf(host, run)
  const { structure, options: drift } = differencesOf(host, run, { task, steps, shapes })
  if (structure.length > 0)
    return { refusal: exposedError('journal.diverged', otherCode(run, structure), { differs: structure }) }
  if (run.stop !== undefined && steps.length === 0 && task.decisions === undefined)
    return { refusal: exposedError('run.failed', run.stop), isStopped: true }
  return { principal: owner.principal, steps, shapes, drift }
}

function refusalOf({ versions, attempts }: Host, run: DurableRun): AlliumError | undefined {
  if (run.unreadable !== undefined)
    return exposedError(run.unreadable.code, `The task of the run cannot be read. ${run.unreadable.message}`)
  if (!versions.includes(run.version))
    return exposedError(
      'run.version',
      `No process with the version "${run.version}" of "${run.agent}" continued the run. Start one, then retry the run.`,
    )
  if (run.attempts > attempts)
    return exposedError('run.attempts', `The run lost its process ${run.attempts - 1} times without a new step.`)
  return undefined
}

async function ownerOf(
  { agent, resolvePrincipal }: Host,
  { key }: DurableRun,
  { task: { principal: stored, schedule }, isNew }: { task: Task; isNew: boolean },
): Promise<{ principal: unknown } | undefined> {
  const resolve = isNew ? undefined : resolvePrincipal
  // The rights of a schedule's owner are those of the tick.
  const isOutdated = !isNew && resolve === undefined && schedule !== undefined && stored !== undefined
  return isOutdated ? undefined : await currentOwner(agent, key, { stored, resolve })
}

/** Returns an error if one of them cannot be read: starting the run again would not help. */
async function recordedSteps(
  { runs }: Host,
  { run, lease }: ClaimedRun,
): Promise<readonly RecordedStep[] | AlliumError> {
  try {
    return await runs.steps(lease, run.run)
  } catch (error) {
    if (!isUnreadable(error)) throw error
    return exposedError('journal.corrupt', `A recorded step cannot be read. ${error.message}`)
  }
}
