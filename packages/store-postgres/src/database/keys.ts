import type { SessionKey } from '@allium/core'
import { checkKey, checkName, sessionKeyParts, type TurnRows } from '@allium/store-sql'
import { checkCombinedLength } from './combined-length.ts'

/** Returns the key of a session as statement parameters. */
export const keyParams = sessionKeyParts

/** Matches the rows of a tenant through the indexes for lists. */
export const tenantMatches = (param: string) =>
  `hashtextextended(tenant, 0) = hashtextextended(${param}, 0) and tenant = ${param}`

/** Matches the rows of one of a tenant's owners. */
export const ownerMatches = (tenant: string, owner: string) =>
  `hashtextextended(owner, 0) = hashtextextended(${owner}, 0) and tenant = ${tenant}`

/** @throws AlliumError `store.key` when Postgres cannot store the key, or it is too long for an index */
export function checkSessionKey(key: SessionKey): SessionKey {
  checkKey(key)
  checkCombinedLength('tenant, owner, agent and session id', keyParams(key))
  return key
}

/** Checks the names in the rows of a run. */
export function checkRows({ turn, records, pendingCalls }: TurnRows): void {
  checkName('id of the turn', turn.turnId)
  checkName('idempotency key', turn.idempotencyKey ?? '')
  for (const { id } of records) checkName('id of a record', id)
  for (const { callId, turnId, name } of pendingCalls) {
    checkName('id of a call', callId)
    checkName('id of the turn', turnId)
    checkName('name of a tool', name)
  }
}
