import type { EventScope, RunKey, SessionKey } from '@allium/core'
import { checkKey, checkName } from '../key.ts'

/** A copy, which nobody changes. @throws AlliumError `store.key` */
export function checkRun({ key, turnId }: RunKey): RunKey {
  checkName('id of the run', turnId)
  return { key: checkKey({ ...key }), turnId }
}

/** The parts of a run's key, in the order of the columns. */
export function partsOf({ key, turnId }: RunKey): readonly [string, string, string, string, string] {
  return [...sessionParts(key), turnId]
}

/** The same of a session's. */
export function sessionParts({
  tenant,
  owner,
  agent,
  sessionId,
}: SessionKey): readonly [string, string, string, string] {
  return [tenant, owner, agent, sessionId]
}

const names = new WeakMap<RunKey, string>()

/** One text for a run that no other has. @param run a copy that nobody changes */
export function runName(run: RunKey): string {
  let name = names.get(run)
  if (name === undefined) {
    name = JSON.stringify(partsOf(run))
    names.set(run, name)
  }
  return name
}

/** Whether the run of a name is among those of a session, an owner or a tenant. */
export function isIn(of: EventScope, name: string): boolean {
  const wanted = [of.tenant, of.owner, ...('sessionId' in of ? [of.agent, of.sessionId] : [])]
  const parts = JSON.parse(name) as string[]
  return wanted.every((part, i) => part === undefined || part === parts[i])
}

/** A check that is made once of a run that is given again and again, as long as it says the same. */
export function checkedOnce(check: (run: RunKey) => RunKey): (run: RunKey) => RunKey {
  const copies = new WeakMap<RunKey, RunKey>()
  return (given) => {
    const known = copies.get(given)
    if (known !== undefined && isSame(known, given)) return known
    const copy = check(given)
    copies.set(given, copy)
    return copy
  }
}

function isSame({ key, turnId }: RunKey, given: RunKey): boolean {
  const { tenant, owner, agent, sessionId } = given.key
  const isOfOwner = key.tenant === tenant && key.owner === owner
  return turnId === given.turnId && isOfOwner && key.agent === agent && key.sessionId === sessionId
}
