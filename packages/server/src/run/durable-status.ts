import { isAlliumError } from '@allium/core'
import type { DurableInfo, DurableRuns } from '../options/durable-runs.ts'
import type { AgentCaller } from './run-request.ts'

/** Returns the status of a durable run; undefined if this principal has no such run. */
export function durableStatus(
  durable: DurableRuns | undefined,
  run: string,
  { principal }: AgentCaller,
): Promise<DurableInfo | undefined> {
  return ignoreNotFound(durable?.get(run, { principal }))
}

/** Stops a durable run. Returns false if it has ended, undefined if this principal has no such run. */
export function stopDurable(
  durable: DurableRuns | undefined,
  run: string,
  { principal }: AgentCaller,
): Promise<boolean | undefined> {
  return ignoreNotFound(durable?.stop(run, { principal, reason: 'stopped by a client' }))
}

/** Returns undefined for a run that is not durable. */
async function ignoreNotFound<T>(promise: Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await promise
  } catch (error) {
    if (isAlliumError(error, 'session.not_found')) return undefined
    throw error
  }
}
