import type { SessionKey } from '@allium/core'
import { checkKey, checkName, checkTogether, type TurnRows } from '@allium/store-sql'

/** Where a session stands, for statements. */
export const at = ({ tenant, owner, agent, sessionId }: SessionKey) => [tenant, owner, agent, sessionId] as const

/** Rows of a tenant, by the indexes that are made for lists of them. */
export const ofTenant = (place: string) =>
  `hashtextextended(tenant, 0) = hashtextextended(${place}, 0) and tenant = ${place}`

/** The same of one owner in it. */
export const ofOwner = (tenant: string, owner: string) =>
  `hashtextextended(owner, 0) = hashtextextended(${owner}, 0) and tenant = ${tenant}`

/** @throws AlliumError `store.key` where Postgres cannot hold it, or an index has no room for it */
export function checkedKey(key: SessionKey): SessionKey {
  checkKey(key)
  checkTogether('tenant, owner, agent and session id', at(key))
  return key
}

/** The same for the names that a run brings. */
export function checkRows({ turn, records, waiting }: TurnRows): void {
  checkName('id of the turn', turn.turnId)
  checkName('idempotency key', turn.idempotencyKey ?? '')
  for (const { id } of records) checkName('id of a record', id)
  for (const { callId, turnId, name } of waiting) {
    checkName('id of a call', callId)
    checkName('id of the turn', turnId)
    checkName('name of a tool', name)
  }
}
