import { isAlliumError } from '@allium/core'
import type { Durable, RunInfo } from '@allium/durable'
import type { AgentCaller } from './run-request.ts'

/** How a durable run stands; undefined where it is none of this principal. */
export function durableStatus(
  durable: Durable | undefined,
  run: string,
  { principal }: AgentCaller,
): Promise<RunInfo | undefined> {
  return ignoreNotFound(durable?.get(run, { principal }))
}

/** Stops it; false where it has ended, undefined where it is none of this principal. */
export function stopDurable(
  durable: Durable | undefined,
  run: string,
  { principal }: AgentCaller,
): Promise<boolean | undefined> {
  return ignoreNotFound(durable?.stop(run, { principal, reason: 'stopped by a client' }))
}

/** Of a run that is no durable one nothing is known. */
async function ignoreNotFound<T>(promise: Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await promise
  } catch (error) {
    if (isAlliumError(error, 'session.not_found')) return undefined
    throw error
  }
}
