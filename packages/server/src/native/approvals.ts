import { type PendingCall, toJson } from '@allium/core'
import type { Page, StoredPendingCall } from '@allium/store'
import { canDecideForOthers, decide } from '../approvals/decide.ts'
import { decidableCallsOf } from '../approvals/pending-calls.ts'
import type { Access, RunControl, Seals, StoreReader } from '../host/host.ts'
import { type Caller, resolveCaller } from '../request/caller.ts'
import { filteredPage, type PageRequest, type ReadPage } from '../request/listing.ts'
import type { Serve } from '../request/router.ts'
import { routes } from './routes.ts'

/** Adds the routes that list and decide pending calls, in the caller's sessions and where `canApprove` allows the caller. */
export function approvalRoutes(serve: Serve, host: Access & StoreReader & RunControl & Seals): void {
  serve(routes.approvals, async (c, read) => {
    const caller = await resolveCaller(host, c.req.raw, c.req.param('agent'))
    const { items, cursor } = await pendingApprovals(host, caller, (await read()).query)
    return c.body(toJson({ approvals: items.flat(), cursor }), 200, { 'content-type': 'application/json' })
  })

  serve(routes.decide, async (c, read) => {
    const caller = await resolveCaller(host, c.req.raw, c.req.param('agent'))
    const { token, decision } = (await read()).body
    return c.json(await decide(host, caller, token, decision), 202)
  })
}

/** Returns the calls that the caller may decide. Filters by owner unless the agent has a rule for calls of other owners. */
async function pendingApprovals(
  host: Access & StoreReader & Seals,
  caller: Caller,
  pageRequest: PageRequest,
): Promise<Page<readonly object[]>> {
  const { tenant, owner, agent, sessionAgent } = caller
  const ownerFilter = canDecideForOthers(host, caller) ? {} : { owner }
  const read: ReadPage<StoredPendingCall> = (page) =>
    host.sessions.pendingCalls({ tenant, ...ownerFilter, agents: [sessionAgent], ...page })
  /** Calls of one session are adjacent, so each session is opened once. */
  let last: { key: string; calls: Promise<readonly PendingCall[]> } | undefined
  const toItem = async (row: StoredPendingCall) => {
    const key = JSON.stringify(row.key)
    if (last?.key !== key) last = { key, calls: decidableCallsOf(host, caller, row.key) }
    const approvals = (await last.calls)
      .filter((call) => isCallOf(call, row))
      .map((call) => ({ sessionId: row.key.sessionId, owner: row.key.owner, ...call }))
    return approvals.length === 0 ? undefined : approvals
  }
  return filteredPage(host, ['approvals', agent.name, tenant, owner], pageRequest, { read, toItem })
}

/** Returns whether a call is the listed one, or a call of the sub-agent that it runs. */
function isCallOf({ callId, path }: PendingCall, row: StoredPendingCall): boolean {
  return path === undefined ? callId === row.callId : callId.startsWith(`${row.callId}/`)
}
