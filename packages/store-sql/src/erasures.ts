import { AlliumError } from '@allium/core'

/** How long an erasure is remembered, in milliseconds. A run that began before it has ended by then. */
export const tombstoneTtl = 7 * 24 * 3_600_000

/** The scope of an erasure: a tenant, one of its owners, or one session. */
export interface ErasureScope {
  readonly tenant: string
  readonly owner?: string | undefined
  readonly agent?: string | undefined
  readonly sessionId?: string | undefined
}

/** Returns a unique text for each scope whose erasure affects these data. */
export function erasureSubjects({ tenant, owner, agent, sessionId }: ErasureScope): string[] {
  if (owner === undefined) return [JSON.stringify([tenant])]
  const subjects = [JSON.stringify([tenant]), JSON.stringify([tenant, owner])]
  return sessionId === undefined ? subjects : [...subjects, JSON.stringify([tenant, owner, agent, sessionId])]
}

/** Returns the error for a run that began before the data of its owner were erased. */
export function erasedDuringRun(): AlliumError {
  return new AlliumError(
    'store.fenced',
    'The data of this owner or session was erased while the run was active. Nothing was stored. A new run is stored as usual.',
  )
}
