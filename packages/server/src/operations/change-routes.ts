import type { Serve } from '../request/router.ts'
import type { Operating } from './operating.ts'
import { routes } from './routes.ts'

/** Most runs that one request changes. */
const maxBulk = 1000

/** Adds the routes that change runs. */
export function runChangeRoutes(serve: Serve, operating: Operating): void {
  serve(routes.bulk, async (c, read) => {
    const { by, runs } = await operating(c.req.raw, 'manage')
    const { action, ...options } = (await read()).body
    return c.json(await runs.bulk(action, { ...options, limit: maxBulk, operator: by.name }))
  })

  serve(routes.stop, async (c, read) => {
    const { by, runs } = await operating(c.req.raw, 'manage')
    const { params, query, body } = await read()
    return c.json({ stopping: await runs.stop(params.run, { ...query, ...body, operator: by.name }) }, 202)
  })

  serve(routes.retry, async (c, read) => {
    const { by, runs } = await operating(c.req.raw, 'manage')
    const { params, query, body } = await read()
    return c.json(await runs.retry(params.run, { ...query, ...body, operator: by.name }), 202)
  })

  serve(routes.forceStop, async (c, read) => {
    const { by, runs } = await operating(c.req.raw, 'manage')
    const { params, query, body } = await read()
    return c.json({ ended: await runs.forceStop(params.run, { ...query, ...body, operator: by.name }) }, 202)
  })

  serve(routes.startAgain, async (c, read) => {
    const { by, runs } = await operating(c.req.raw, 'manage')
    const { params, query, body } = await read()
    return c.json(await runs.startAgain(params.run, { ...query, ...body, operator: by.name }), 202)
  })

  serve(routes.deny, async (c, read) => {
    const { by, runs } = await operating(c.req.raw, 'deny')
    const { params, query, body } = await read()
    return c.json(await runs.deny(params.run, { ...query, ...body, operator: by.name }), 202)
  })

  serve(routes.migrate, async (c, read) => {
    const { by, runs } = await operating(c.req.raw, 'manage')
    const { params, query, body } = await read()
    return c.json(await runs.migrate(params.run, { ...query, ...body, operator: by.name }))
  })
}

/** Adds the routes that change schedules. */
export function scheduleChangeRoutes(serve: Serve, operating: Operating): void {
  for (const action of ['pause', 'resume', 'run'] as const)
    serve(routes[action], async (c, read) => {
      const { by, runs } = await operating(c.req.raw, 'manage')
      const { params, query, body } = await read()
      return c.json(await runs.schedules[action](params.schedule, { ...query, ...body, operator: by.name }))
    })
}
