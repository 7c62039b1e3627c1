import { type Page, type SessionSummary, toJson } from '@allium/core'
import type { Host } from '../host.ts'
import type { Serve } from '../http/router.ts'
import { type Visit, visit } from '../visit.ts'
import { fork } from './fork.ts'
import { isThere } from './is-there.ts'
import { type ReadPage, visiblePage, type Wanted, wholePage } from './listing.ts'
import { mayRead, ownKey, readableKey } from './may-read.ts'
import { routes } from './routes.ts'
import { stop } from './runs.ts'
import { shownFile, shownMessages } from './shown-messages.ts'

/** The routes by which somebody finds, reads, copies and deletes sessions of their own. */
export function sessionRoutes(serve: Serve, host: Host): void {
  const { sessions } = host

  serve(routes.sessions, async (c, read) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const { owner = asks.owner, ...wanted } = (await read()).query
    const { items, cursor } = await listed(host, asks, owner, wanted)
    const shown = items.map(({ key, version, status, updatedAt }) => ({
      id: key.sessionId,
      version,
      status,
      updatedAt,
    }))
    return c.json({ sessions: shown, cursor })
  })

  serve(routes.messages, async (c, read) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const { params, query } = await read()
    const key = await readableKey(host, asks, params.id, query.owner)
    const { pathname, search } = new URL(c.req.url)
    const at = (name: string) => `${pathname.replace(/messages$/, 'files/')}${name}${search}`
    return c.body(toJson(await shownMessages(host, asks, key, at)), 200, json)
  })

  serve(routes.file, async (c, read) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const { params, query } = await read()
    return shownFile(host, asks, await readableKey(host, asks, params.id, query.owner), params.file)
  })

  serve(routes.usage, async (c, read) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const { params, query } = await read()
    const { rest } = await isThere(host, await readableKey(host, asks, params.id, query.owner))
    const told = (name: string) => rest.state[`observe:usage:${name}`] ?? null
    return c.body(toJson({ tokens: told('tokens'), cost: told('cost'), models: told('models') }), 200, json)
  })

  serve(routes.state, async (c, read) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const { params, query } = await read()
    const { rest } = await isThere(host, await readableKey(host, asks, params.id, query.owner))
    const open = (host.options.state ?? []).filter((key) => Object.hasOwn(rest.state, key))
    return c.body(toJson({ state: Object.fromEntries(open.map((key) => [key, rest.state[key]])) }), 200, json)
  })

  serve(routes.fork, async (c, read) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const { params, query, body } = await read()
    const { id = crypto.randomUUID(), at } = body
    await fork(host, asks, { from: ownKey(asks, params.id, query.owner).sessionId, to: id, at })
    return c.json({ id }, 201)
  })

  serve(routes.delete, async (c, read) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const { params, query } = await read()
    const key = ownKey(asks, params.id, query.owner)
    await isThere(host, key)
    await host.runs.drop(key)
    await stop(host, asks, key)
    await sessions.delete(key)
    await host.events.delete(key)
    return c.body(null, 204)
  })
}

const json = { 'content-type': 'application/json' }

/** Of another owner the sessions that `mayRead` opens; without that rule nothing is read for it. */
async function listed(host: Host, asks: Visit, owner: string, wanted: Wanted): Promise<Page<SessionSummary>> {
  const { tenant, agent, sessionAgent } = asks
  const scope = ['sessions', agent.name, tenant, asks.owner, owner]
  const read: ReadPage<SessionSummary> = (page) =>
    host.sessions.list({ tenant, owner, agents: [sessionAgent], ...page })
  if (owner === asks.owner) return wholePage(host, scope, wanted, read)
  if (host.options.mayRead === undefined) return { items: [] }
  const show = async (one: SessionSummary) => ((await mayRead(host, asks, one.key)) ? one : undefined)
  return visiblePage(host, scope, wanted, { read, show })
}
