import { isAlliumError, observe } from 'allium'
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

/** What an admin sees of the tenants that they administer; for everybody else these routes are not there. */
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

  /** What the store does not take from a client, such as a cursor that no page gave. */
  app.onError((error, c) => {
    if (!isAlliumError(error, 'store.key')) throw error
    return c.json({ code: 'request.invalid', message: error.message }, 400)
  })

  app.get('/:tenant/usage', async (c) => c.json({ days: await billing.days(c.get('tenant'), 14, Date.now()) }))

  app.get('/:tenant/sessions', async (c) => {
    const cursor = c.req.query('cursor')
    return c.json(await sessions.list({ tenant: c.get('tenant'), limit: 20, ...(cursor !== undefined && { cursor }) }))
  })

  /** The last turns of a session; what was said stays out. */
  app.get('/:tenant/sessions/:owner/:id/turns', async (c) => {
    const key = { tenant: c.get('tenant'), owner: c.req.param('owner'), agent, sessionId: c.req.param('id') }
    const stored = await sessions.load(key)
    if (stored === undefined) return none(c)
    const versions = Array.from({ length: Math.min(20, stored.version) }, (_, back) => stored.version - back)
    const turns = await Promise.all(versions.map((version) => sessions.find(key, { version })))
    return c.json({
      turns: turns.flatMap((turn) => {
        if (turn === undefined) return []
        const { turnId, status, reason, code, startedAt, endedAt, usage } = turn
        return [{ turnId, status, reason, code, startedAt, endedAt, usage }]
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

  /** The end of the chain, and whether all of it is as it was written. */
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
  return c.json({ code: 'route.not_found', message: 'There is no such path.' }, 404)
}
