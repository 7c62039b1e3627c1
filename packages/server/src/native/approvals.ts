import { type Decision, toJson } from '@allium/core'
import type { Hono } from 'hono'
import type { Host } from '../host.ts'
import { knowsOnly, readObject } from '../http/body.ts'
import { fail } from '../http/problem.ts'
import { type Env, type Visit, visit } from '../visit.ts'
import { fieldsOf } from './bodies.ts'
import { pageIn } from './sessions.ts'
import { calledBy, decidableIn, isOf, principalOf } from './waiting.ts'

/** The routes that tell what waits for a decision of who asks, and take it: in their sessions, and where `mayDecide` lets them. */
export function approvalRoutes(app: Hono<Env>, host: Host, at: string): void {
  app.get(`${at}/approvals`, async (c) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const { items, cursor } = await host.sessions.waiting({ tenant: asks.tenant, ...pageIn(c.req.query()) })
    const approvals: object[] = []
    const sessions = new Map(items.map((one) => [JSON.stringify(one.key), one]))
    for (const one of sessions.values()) {
      if (!(await isOf(host, asks, one))) continue
      const { owner, sessionId } = one.key
      for (const call of await decidableIn(host, asks, one.key)) approvals.push({ sessionId, owner, ...call })
    }
    return c.body(toJson({ approvals, cursor }), 200, { 'content-type': 'application/json' })
  })

  app.post(`${at}/approvals`, async (c) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const body = await readObject(c.req.raw, host.maxBody)
    knowsOnly(body, fieldsOf('approval'))
    const { token, ...decision } = body
    if (typeof token !== 'string' || token === '' || 'result' in decision)
      throw fail(
        'request.invalid',
        'A decision is { token, approve: true }, { token, deny: "why" } or { token, args }.',
      )
    return c.json(await decide(host, asks, token, decision as Decision), 202)
  })
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
