import { type Decision, type Page, type PendingCall, type StoredPendingCall, toJson } from '@allium/core'
import type { Host } from '../host.ts'
import type { Serve } from '../http/router.ts'
import { type Visit, visit } from '../visit.ts'
import { type ReadPage, visiblePage, type Wanted } from './listing.ts'
import { routes } from './routes.ts'
import { calledBy, decidableIn, principalOf } from './waiting.ts'

/** The routes that tell what waits for a decision of who asks, and take it: in their sessions, and where `mayDecide` lets them. */
export function approvalRoutes(serve: Serve, host: Host): void {
  serve(routes.approvals, async (c, read) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const { items, cursor } = await waitingFor(host, asks, (await read()).query)
    return c.body(toJson({ approvals: items.flat(), cursor }), 200, { 'content-type': 'application/json' })
  })

  serve(routes.decide, async (c, read) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const { token, decision } = (await read()).body
    return c.json(await decide(host, asks, token, decision), 202)
  })
}

/** The calls that the caller may decide: read from the store by owner, unless the agent has a rule for calls of others. */
async function waitingFor(host: Host, asks: Visit, wanted: Wanted): Promise<Page<readonly object[]>> {
  const { tenant, owner, agent, sessionAgent } = asks
  const whose = decidesForOthers(host, asks) ? {} : { owner }
  const read: ReadPage<StoredPendingCall> = (page) =>
    host.sessions.waiting({ tenant, ...whose, agents: [sessionAgent], ...page })
  /** Calls of one session lie side by side: it is opened once. */
  let last: { key: string; calls: Promise<readonly PendingCall[]> } | undefined
  const show = async (row: StoredPendingCall) => {
    const key = JSON.stringify(row.key)
    if (last?.key !== key) last = { key, calls: decidableIn(host, asks, row.key) }
    const { owner, sessionId } = row.key
    const shown = (await last.calls).filter((call) => isIn(call, row)).map((call) => ({ sessionId, owner, ...call }))
    return shown.length === 0 ? undefined : shown
  }
  return visiblePage(host, ['approvals', agent.name, tenant, owner], wanted, { read, show })
}

/** Without a function that gives other owners, or without a rule, only owners decide. */
function decidesForOthers({ options }: Host, { agent }: Visit): boolean {
  return options.resolvePrincipal !== undefined && agent.inspect().approvers !== 'owner'
}

/** The call itself, or one that waits in the sub-agent that it runs. */
function isIn({ callId, path }: PendingCall, row: StoredPendingCall): boolean {
  return path === undefined ? callId === row.callId : callId.startsWith(`${row.callId}/`)
}

/** The decision is taken: the run goes on as the session's owner, and who has decided sees nothing of it. */
async function decide(host: Host, asks: Visit, token: string, decision: Decision): Promise<object> {
  const { key, call } = await calledBy(host, asks, token)
  const { callId } = call
  const pump = await host.runs.begin({
    agent: asks.agent,
    principal: await principalOf(host, asks, key.owner),
    sessionId: key.sessionId,
    decisions: { [callId]: { ...decision, token } },
    decider: asks.principal,
    onDisconnect: 'continue',
  })
  try {
    await pump.started
  } finally {
    pump.readers.leave()
  }
  return { callId, decision: 'deny' in decision ? 'denied' : 'args' in decision ? 'edited' : 'approved' }
}
