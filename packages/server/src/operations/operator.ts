import { AlliumError, toJson } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { Access, Seals } from '../host/host.ts'
import { requestError } from '../http/problem.ts'
import type { Operate } from '../options/options.ts'
import { authenticate } from '../request/caller.ts'
import { unfilteredPage } from '../request/listing.ts'
import type { Serve } from '../request/router.ts'
import { schemas } from './openapi-schemas.ts'
import type { ServedOperations } from './port.ts'
import { type CanOperate, type Operator, operatorOf } from './rights.ts'
import { routes } from './routes.ts'

export interface OperatorOptions {
  /** The result of `operations()` of `@allium/durable/operations`. */
  operations: ServedOperations
  /** Returns the rights of a principal, or nothing. A throw, or an invalid result, denies everything. */
  canOperate: CanOperate
}

const optionKeys: KeysOf<OperatorOptions> = { operations: true, canOperate: true }

/**
 * Lets chosen principals inspect and change the durable runs and schedules of all agents. Adds the routes under `/operations`. For all other
 * principals these routes do not exist (404).
 *
 * @throws AlliumError `server.options`
 * @example
 * server(agent, {
 *   principal,
 *   durable: durable(agent, { store }),
 *   operations: operator({
 *     operations: operations({ store }),
 *     canOperate: ({ role, tenantId }) => role === 'support' && { tenants: [tenantId], manage: true },
 *   }),
 * })
 */
export function operator(options: OperatorOptions): Operate {
  checkOptions(options ?? null, optionKeys, 'operator()', 'server.options')
  const { operations, canOperate } = options
  if (typeof canOperate !== 'function' || typeof operations?.within !== 'function')
    throw new AlliumError(
      'server.options',
      'operator() needs operations: operations({ store }), and canOperate: (principal) => …, which returns { tenants } or nothing.',
    )
  return {
    schemas,
    routes: (serve: Serve, host: Access & Seals) => addRoutes(serve, host, { operations, canOperate }),
  }
}

/** Most runs that one request changes. */
const maxBulk = 1000

/** A cursor belongs to one operator, their tenants and one filter. */
function scopeOf(list: string, { name, tenants }: Operator, filter: object) {
  return ['operations', list, name, JSON.stringify([tenants ?? null, Object.entries(filter).sort()])]
}

function addRoutes(serve: Serve, host: Access & Seals, { operations, canOperate }: OperatorOptions): void {
  serve(routes.list, async (c, read) => {
    const { by, runs } = await operating(c.req.raw)
    const { cursor, limit, olderThan, ...query } = (await read()).query
    const filter = { ...query, ...(olderThan > 0 && { olderThan }) }
    const page = await unfilteredPage(host, scopeOf('runs', by, filter), { cursor, limit }, (pageRequest) =>
      runs.list({ ...filter, ...pageRequest }),
    )
    return c.json({ runs: page.items, cursor: page.cursor })
  })

  serve(routes.queues, async (c, read) => {
    const { runs } = await operating(c.req.raw)
    return c.json({ queues: await runs.queues((await read()).query) })
  })

  serve(routes.bulk, async (c, read) => {
    const { by, runs } = await operating(c.req.raw, 'manage')
    const { action, ...options } = (await read()).body
    return c.json(await runs.bulk(action, { ...options, limit: maxBulk, operator: by.name }))
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

  serve(routes.export, async (c, read) => {
    const { by, runs } = await operating(c.req.raw, 'content')
    const { params, query, body } = await read()
    const exported = await runs.export(params.run, { ...query, reason: body.reason, operator: by.name })
    // Bytes are encoded as `toJson` does.
    return c.body(toJson(exported), 200, { 'content-type': 'application/json' })
  })

  serve(routes.schedules, async (c, read) => {
    const { by, runs } = await operating(c.req.raw)
    const { cursor, limit, paused, ...query } = (await read()).query
    const filter = { ...query, ...(paused !== undefined && { paused: paused === 'true' }) }
    const page = await unfilteredPage(host, scopeOf('schedules', by, filter), { cursor, limit }, (pageRequest) =>
      runs.schedules.list({ ...filter, ...pageRequest }),
    )
    return c.json({ schedules: page.items, cursor: page.cursor })
  })

  for (const action of ['pause', 'resume', 'run'] as const)
    serve(routes[action], async (c, read) => {
      const { by, runs } = await operating(c.req.raw, 'manage')
      const { params, query, body } = await read()
      return c.json(await runs.schedules[action](params.schedule, { ...query, ...body, operator: by.name }))
    })

  /** @throws AlliumError `route.not_found` for a principal without the right */
  async function operating(
    request: Request,
    right?: 'manage' | 'deny' | 'content',
  ): Promise<{ by: Operator; runs: ServedOperations }> {
    const by = await operatorOf(canOperate, await authenticate(host, request))
    if (by === undefined || (right !== undefined && !by[right]))
      throw requestError('route.not_found', 'There is no such path, or no such agent.')
    return { by, runs: by.tenants === undefined ? operations : operations.within(by.tenants) }
  }
}
