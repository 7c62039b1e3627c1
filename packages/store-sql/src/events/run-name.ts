import type { RunKey, SessionKey } from '@allium/core'
import { checkKey, checkName } from '../key.ts'

/** A copy, which nobody changes. @throws AlliumError `store.key` */
export function checkRun({ key, turnId }: RunKey): RunKey {
  checkName('id of the run', turnId)
  return { key: checkKey({ ...key }), turnId }
}

/** The parts of a run's key, in the order of the columns. */
export function partsOf({ key, turnId }: RunKey): readonly [string, string, string, string] {
  return [...sessionParts(key), turnId]
}

/** The same of a session's. */
export function sessionParts({ tenant, owner, sessionId }: SessionKey): readonly [string, string, string] {
  return [tenant, owner, sessionId]
}

/** One text for a run that no other has. */
export function runName(run: RunKey): string {
  return JSON.stringify(partsOf(run))
}
