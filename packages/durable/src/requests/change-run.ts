import { AlliumError } from '@allium/core'
import { type MigrateOptions, type Migration, migrate } from '../migration/migrate.ts'
import type { Worker } from '../worker/worker.ts'
import { ownedRun, type RunAccess } from './owned-run.ts'
import { type RunInfo, runInfo } from './run-info.ts'

export interface StopOptions extends RunAccess {
  /** @default 'stopped' */
  readonly reason?: string
}

export async function stopRun(
  worker: Worker,
  run: string,
  { principal, reason = 'stopped' }: StopOptions = {},
): Promise<boolean> {
  const { runs, events } = worker.host
  const { key } = await ownedRun(worker, run, principal)
  const isStopping = await runs.stop({ tenant: key.tenant, run }, reason)
  if (!isStopping) return false
  await events.signal({ key, turnId: run }, { stop: true })
  await worker.poll().catch(() => {})
  return true
}

export interface RetryOptions extends RunAccess {
  /** Throws `store.conflict` with the reason instead of returning false. @default false */
  readonly orThrow?: boolean
}

export async function retryRun(
  worker: Worker,
  run: string,
  { principal, orThrow = false }: RetryOptions = {},
): Promise<boolean> {
  const { versions, runs } = worker.host
  const { key, version } = await ownedRun(worker, run, principal)
  if (!versions.includes(version)) throw otherVersion(run, version, versions)
  const isQueued = await runs.retry({ tenant: key.tenant, run })
  if (isQueued) await worker.poll()
  else if (orThrow) throw notRetryable(run, await runInfo(worker, run, { principal }))
  return isQueued
}

export async function migrateRun(
  worker: Worker,
  run: string,
  { principal, ...options }: RunAccess & MigrateOptions,
): Promise<Migration> {
  await worker.host.agent.init()
  const migration = await migrate(worker.host, await ownedRun(worker, run, principal), options)
  if (migration.moved) await worker.poll()
  return migration
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
  const names = accepted.map((name) => `"${name}"`).join(', ')
  return new AlliumError(
    'run.version',
    `The run "${run}" has the version "${version}", and this process continues ${names} only. Retry it in a process of that version, or pass accepts: ["${version}"] to durable().`,
    { details: { version } },
  )
}
