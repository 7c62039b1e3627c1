import { operations } from '@allium/durable/operations'
import { isAlliumError, toJson } from 'allium'
import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { Principal } from './principal.ts'
import type { Store } from './store.ts'

type Env = { Variables: { tenant: string; principal: Principal } }

/** The durable runs of a tenant, for its admins. Reading content needs another right, and the audit records each access. */
export function runRoutes(store: Store): Hono<Env> {
  const all = operations({ store })
  const app = new Hono<Env>()
  const runsOf = (c: Context<Env>) => all.within([c.get('tenant')])
  app.use(bodyLimit({ maxSize: 4096 }))

  app.onError((error, c) => {
    if (isAlliumError(error, 'session.not_found')) return none(c)
    if (isAlliumError(error, 'run.options') || isAlliumError(error, 'store.key'))
      return c.json({ code: 'request.invalid', message: error.message }, 400)
    throw error
  })

  app.get('/', async (c) => {
    const [summary, page] = await Promise.all([runsOf(c).summary(), runsOf(c).list({ limit: 20 })])
    return c.json({ ...summary, runs: page.items })
  })

  app.get('/:run', async (c) => c.json(await runsOf(c).show(c.req.param('run'))))

  app.post('/:run/stop', async (c) => {
    const operator = c.get('principal').userId
    return c.json({ done: await runsOf(c).stop(c.req.param('run'), { operator }) })
  })

  app.post('/:run/retry', async (c) => {
    const operator = c.get('principal').userId
    const { queued, reason } = await runsOf(c).retry(c.req.param('run'), { operator })
    return c.json({ done: queued, ...(reason !== undefined && { reason }) })
  })

  app.post('/:run/content', async (c) => {
    const { userId: operator, reads } = c.get('principal')
    if (!reads.includes(c.get('tenant'))) return none(c)
    const { reason } = (await c.req.json().catch(() => ({}))) as { reason?: string }
    const { task, steps, turn } = await runsOf(c).export(c.req.param('run'), { operator, reason: reason ?? '' })
    const text = toJson({ task, steps, messages: turn?.messages })
    return c.body(text, 200, { 'content-type': 'application/json', 'cache-control': 'no-store' })
  })

  return app
}

function none(c: Context): Response {
  return c.json({ code: 'route.not_found', message: 'This path does not exist.' }, 404)
}
