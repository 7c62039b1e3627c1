import { toJson, type WaitingCall } from '@allium/core'
import type { Hono } from 'hono'
import type { Host } from '../host.ts'
import { type Env, keyOf, type Visit, visit } from '../visit.ts'
import { pageIn } from './sessions.ts'
import { waitingIn } from './shown-messages.ts'

/** The route that tells what waits for a decision of who asks, over their sessions. */
export function approvalRoutes(app: Hono<Env>, host: Host, at: string): void {
  app.get(`${at}/approvals`, async (c) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const { items, cursor } = await host.sessions.waiting({ tenant: asks.tenant, ...pageIn(c.req.query()) })
    const approvals = await decidable(host, asks, items)
    return c.body(toJson({ approvals, cursor }), 200, { 'content-type': 'application/json' })
  })
}

/** Of the calls of a tenant those that this owner may decide, with what is to run and the token. */
async function decidable(host: Host, asks: Visit, waiting: readonly WaitingCall[]): Promise<unknown[]> {
  const own = waiting.filter(({ key }) => key.owner === asks.owner)
  const found: unknown[] = []
  for (const sessionId of new Set(own.map(({ key }) => key.sessionId))) {
    const stored = await host.sessions.load(keyOf(asks, sessionId))
    const pending = stored === undefined ? [] : await waitingIn(asks, sessionId, stored)
    for (const call of pending) found.push({ sessionId, ...call })
  }
  return found
}
