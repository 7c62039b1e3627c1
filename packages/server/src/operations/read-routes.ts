import { toJson } from '@allium/core'
import type { Seals } from '../host/host.ts'
import { unfilteredPage } from '../request/listing.ts'
import type { Serve } from '../request/router.ts'
import type { Operating } from './operating.ts'
import type { Operator } from './rights.ts'
import { routes } from './routes.ts'

/** Adds the routes that read runs and schedules. */
export function readRoutes(serve: Serve, seals: Seals, operating: Operating): void {
  serve(routes.list, async (c, read) => {
    const { by, runs } = await operating(c.req.raw)
    const { cursor, limit, olderThan, ...query } = (await read()).query
    const filter = { ...query, ...(olderThan > 0 && { olderThan }) }
    const page = await unfilteredPage(seals, scopeOf('runs', by, filter), { cursor, limit }, (pageRequest) =>
      runs.list({ ...filter, ...pageRequest }),
    )
    return c.json({ runs: page.items, cursor: page.cursor })
  })

  serve(routes.schedules, async (c, read) => {
    const { by, runs } = await operating(c.req.raw)
    const { cursor, limit, paused, ...query } = (await read()).query
    const filter = { ...query, ...(paused !== undefined && { paused: paused === 'true' }) }
    const page = await unfilteredPage(seals, scopeOf('schedules', by, filter), { cursor, limit }, (pageRequest) =>
      runs.schedules.list({ ...filter, ...pageRequest }),
    )
    return c.json({ schedules: page.items, cursor: page.cursor })
  })

  serve(routes.queues, async (c, read) => {
    const { runs } = await operating(c.req.raw)
    return c.json({ queues: await runs.queues((await read()).query) })
  })

  serve(routes.summary, async (c, read) => {
    const { runs } = await operating(c.req.raw)
    return c.json(await runs.summary((await read()).query))
  })

  serve(routes.show, async (c, read) => {
    const { runs } = await operating(c.req.raw)
    const { params, query } = await read()
    return c.json(await runs.show(params.run, query))
  })

  serve(routes.export, async (c, read) => {
    const { by, runs } = await operating(c.req.raw, 'content')
    const { params, query, body } = await read()
    const exported = await runs.export(params.run, { ...query, reason: body.reason, operator: by.name })
    // Bytes are encoded as `toJson` does.
    return c.body(toJson(exported), 200, { 'content-type': 'application/json' })
  })
}

/** A cursor belongs to one operator, their tenants and one filter. */
function scopeOf(list: string, { name, tenants }: Operator, filter: object) {
  return ['operations', list, name, JSON.stringify([tenants ?? null, Object.entries(filter).sort()])]
}
