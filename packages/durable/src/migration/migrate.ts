import { AlliumError } from '@allium/core'
import type { DurableRun } from '@allium/store'
import { runOptionsError } from '../host/option-errors.ts'
import { type RehearsalHost, rehearse } from './rehearsal.ts'

export interface MigrateOptions {
  /** The version of the code to move the run to. It is that of the agent in this process. */
  readonly to: string
  /** Only checks whether the run fits, and leaves it as it is. @default false */
  readonly dryRun?: boolean | undefined
}

/** The result of `migrate()`. */
export interface Migration {
  /** Whether the code of this process requests the recorded steps as they were recorded. */
  readonly fits: boolean
  /** Why it does not fit. Names the step, or the layer or tool. */
  readonly reason?: string
  /** How many recorded steps were replayed. */
  readonly replayed: number
  /** How many steps are recorded. */
  readonly recorded: number
  /** Whether the run has the new version now. False with `dryRun`, if it does not fit, or while a process is executing it. */
  readonly moved: boolean
}

/** Replays a run with the code of this process, and moves it to its version if it fits. @throws AlliumError `run.version`, `run.options` */
export async function migrate(
  host: RehearsalHost,
  run: DurableRun,
  { to, dryRun = false }: MigrateOptions,
): Promise<Migration> {
  const { version } = host
  if (to !== version)
    throw new AlliumError('run.version', `This process has the version "${version}", not "${to}".`, {
      details: { version },
    })
  if (run.task === undefined || !['queued', 'running', 'failed'].includes(run.status))
    throw runOptionsError(`The run "${run.run}" has ended as ${run.status}, so it cannot be moved.`)
  const { reason, ...counts } = await rehearse(host, run)
  if (reason !== undefined) return { fits: false, reason, ...counts, moved: false }
  const { key, version: from } = run
  const move = () => from === to || host.runs.migrate({ tenant: key.tenant, run: run.run }, { from, to })
  const moved = !dryRun && (await move())
  return { fits: true, ...counts, moved }
}
