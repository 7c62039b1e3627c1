import { isAlliumError } from '@allium/core'
import type { Durable, RunInfo } from '@allium/durable'
import type { Asking } from './asked.ts'

/** How a durable run stands; undefined where it is none of this principal. */
export function lasting(
  durable: Durable | undefined,
  run: string,
  { principal }: Asking,
): Promise<RunInfo | undefined> {
  return known(durable?.get(run, { principal }))
}

/** Stops it; false where it has ended, undefined where it is none of this principal. */
export function stopLasting(
  durable: Durable | undefined,
  run: string,
  { principal }: Asking,
): Promise<boolean | undefined> {
  return known(durable?.stop(run, { principal, reason: 'stopped by a client' }))
}

/** Of a run that is no durable one nothing is known. */
async function known<T>(asked: Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (isAlliumError(error, 'session.not_found')) return undefined
    throw error
  }
}
