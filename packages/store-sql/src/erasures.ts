import { AlliumError } from '@allium/core'

/** Milliseconds for which an erasure is known: a run that began before is over by then. */
export const tombstoneTtl = 7 * 24 * 3_600_000

/** What is erased: a tenant, one owner in it, or one session. */
export interface ErasureScope {
  readonly tenant: string
  readonly owner?: string | undefined
  readonly agent?: string | undefined
  readonly sessionId?: string | undefined
}

/** A text for each of those whose erasure concerns what is stored: no two have the same. */
export function erasureSubjects({ tenant, owner, agent, sessionId }: ErasureScope): string[] {
  if (owner === undefined) return [JSON.stringify([tenant])]
  const subjects = [JSON.stringify([tenant]), JSON.stringify([tenant, owner])]
  return sessionId === undefined ? subjects : [...subjects, JSON.stringify([tenant, owner, agent, sessionId])]
}

/** The run began before the data of its owner were erased. */
export function erasedDuringRun(): AlliumError {
  return new AlliumError(
    'store.fenced',
    'The data of this owner or session were erased while the run went on. Nothing was stored. A new run is stored as ever.',
  )
}
