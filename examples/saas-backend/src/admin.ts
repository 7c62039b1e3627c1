import { isAlliumError } from 'allium'
import * as observe from 'allium/observe'
import { type Context, Hono } from 'hono'
import type { openBilling } from './billing.ts'
import { onionOf } from './onions.ts'
import type { Principal } from './principal.ts'
import { runRoutes } from './runs.ts'
import type { Store } from './store.ts'

export interface AdminOptions {
  /** The name of the agent whose sessions are shown. */
  readonly agent: string
  store: Store
  billing: ReturnType<typeof openBilling>
  principalOf(request: Request): Promise<Principal | undefined>
}

/** Routes for the admins of a tenant. For other principals, they do not exist (404). */
export function adminRoutes({ agent, store, billing, principalOf }: AdminOptions): Hono {
  const { sessions, audit, keyValue } = store
  const app = new Hono<{ Variables: { tenant: string; principal: Principal } }>()

  app.use('/:tenant/*', async (c, next) => {
    const principal = await principalOf(c.req.raw)
    const tenant = c.req.param('tenant')
    if (principal === undefined) return c.json({ code: 'request.principal', message: 'Sign in.' }, 401)
    if (!principal.administers.includes(tenant)) return none(c)
    c.set('tenant', tenant)
    c.set('principal', principal)
    await next()
  })

  /** Rejects input that the store does not accept, such as an invalid cursor. */
  app.onError((error, c) => {
    if (!isAlliumError(error, 'store.key')) throw error
    return c.json({ code: 'request.invalid', message: error.message }, 400)
  })

  app.get('/:tenant/usage', async (c) => c.json({ days: await billing.days(c.get('tenant'), 14, Date.now()) }))

  app.get('/:tenant/sessions', async (c) => {
    const cursor = c.req.query('cursor')
    // Without the notes of people, which are sessions, too.
    const list = { tenant: c.get('tenant'), agents: [agent], limit: 20 }
    return c.json(await sessions.list({ ...list, ...(cursor !== undefined && { cursor }) }))
  })

  /** Lists the last turns of a session, without their messages. */
  app.get('/:tenant/sessions/:owner/:id/turns', async (c) => {
    const key = { tenant: c.get('tenant'), owner: c.req.param('owner'), agent, sessionId: c.req.param('id') }
    const stored = await sessions.load(key)
    if (stored === undefined) return none(c)
    const versions = Array.from({ length: Math.min(20, stored.version) }, (_, back) => stored.version - back)
    const turns = await Promise.all(versions.map((version) => sessions.find(key, { version })))
    return c.json({
      turns: turns.flatMap((turn) => {
        if (turn === undefined) return []
        const { turnId, agent: by, status, reason, code, startedAt, endedAt, usage } = turn
        return [{ turnId, agent: by, status, reason, code, startedAt, endedAt, usage }]
      }),
    })
  })

  app.get('/:tenant/sessions/:owner/:id/turns/:turn/onion', async (c) => {
    const key = { tenant: c.get('tenant'), owner: c.req.param('owner'), agent, sessionId: c.req.param('id') }
    const turnId = c.req.param('turn')
    if ((await sessions.find(key, { turnId })) === undefined) return none(c)
    const onion = await onionOf(keyValue, turnId)
    return onion === undefined ? none(c) : c.json(onion)
  })

  app.route('/:tenant/runs', runRoutes(store))

  app.get('/:tenant/waiting', async (c) => c.json(await sessions.pendingCalls({ tenant: c.get('tenant'), limit: 50 })))

  /** Returns the end of the audit chain, and whether the whole chain is intact. */
  app.get('/:tenant/audit', async (c) => {
    const chain = audit.chainOf(c.get('tenant'))
    const last: unknown[] = []
    for await (const line of chain.lines()) {
      last.push(JSON.parse(line))
      if (last.length > 25) last.shift()
    }
    return c.json({ verdict: await observe.verify(chain), records: last.reverse() })
  })

  return app as unknown as Hono
}

function none(c: Context): Response {
  return c.json({ code: 'route.not_found', message: 'This path does not exist.' }, 404)
}
