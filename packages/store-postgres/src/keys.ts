import type { SessionKey } from '@allium/core'
import { checkCombinedLength, checkKey, checkName, type TurnRows } from '@allium/store-sql'

/** Where a session stands, for statements. */
export const keyParams = ({ tenant, owner, agent, sessionId }: SessionKey) => [tenant, owner, agent, sessionId] as const

/** Rows of a tenant, by the indexes that are made for lists of them. */
export const tenantMatches = (param: string) =>
  `hashtextextended(tenant, 0) = hashtextextended(${param}, 0) and tenant = ${param}`

/** The same of one owner in it. */
export const ownerMatches = (tenant: string, owner: string) =>
  `hashtextextended(owner, 0) = hashtextextended(${owner}, 0) and tenant = ${tenant}`

/** @throws AlliumError `store.key` where Postgres cannot hold it, or an index has no room for it */
export function checkSessionKey(key: SessionKey): SessionKey {
  checkKey(key)
  checkCombinedLength('tenant, owner, agent and session id', keyParams(key))
  return key
}

/** The same for the names that a run brings. */
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
