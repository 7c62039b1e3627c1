import type { SessionKey } from '@allium/core'
import type { EventScope, RunKey } from '@allium/store'
import { checkKey, checkName } from '../key.ts'

/** Returns a private copy. @throws AlliumError `store.key` */
export function checkRun({ key, turnId }: RunKey): RunKey {
  checkName('id of the run', turnId)
  return { key: checkKey({ ...key }), turnId }
}

/** Returns the parts of a run's key, in column order. */
export function runKeyParts({ key, turnId }: RunKey): readonly [string, string, string, string, string] {
  return [...sessionKeyParts(key), turnId]
}

/** Returns the parts of a session's key, in column order. */
export function sessionKeyParts({
  tenant,
  owner,
  agent,
  sessionId,
}: SessionKey): readonly [string, string, string, string] {
  return [tenant, owner, agent, sessionId]
}

const names = new WeakMap<RunKey, string>()

/** Returns a unique text for a run. @param run a copy that never changes */
export function runName(run: RunKey): string {
  let name = names.get(run)
  if (name === undefined) {
    name = JSON.stringify(runKeyParts(run))
    names.set(run, name)
  }
  return name
}

/** Whether a named run belongs to a session, an owner or a tenant. */
export function isInScope(scope: EventScope, name: string): boolean {
  const scopeParts = [scope.tenant, scope.owner, ...('sessionId' in scope ? [scope.agent, scope.sessionId] : [])]
  const parts = JSON.parse(name) as string[]
  return scopeParts.every((part, i) => part === undefined || part === parts[i])
}

/** Caches the check of a run while its key stays the same. */
export function memoizeCheck(check: (run: RunKey) => RunKey): (run: RunKey) => RunKey {
  const copies = new WeakMap<RunKey, RunKey>()
  return (run) => {
    const cached = copies.get(run)
    if (cached !== undefined && isSameRun(cached, run)) return cached
    const copy = check(run)
    copies.set(run, copy)
    return copy
  }
}

function isSameRun({ key, turnId }: RunKey, other: RunKey): boolean {
  const { tenant, owner, agent, sessionId } = other.key
  const isOfOwner = key.tenant === tenant && key.owner === owner
  return turnId === other.turnId && isOfOwner && key.agent === agent && key.sessionId === sessionId
}
