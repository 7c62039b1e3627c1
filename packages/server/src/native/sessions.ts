import { type SessionKey, toJson } from '@allium/core'
import type { Page, SessionSummary } from '@allium/store'
import type { Access, Limits, RunControl, RunReader, Seals, StoreReader, Stores } from '../host/host.ts'
import { type Caller, resolveCaller } from '../request/caller.ts'
import { filteredPage, type PageRequest, type ReadPage, unfilteredPage } from '../request/listing.ts'
import { canRead, readableKey, requireSession } from '../request/require-session.ts'
import type { Serve } from '../request/router.ts'
import { displayMessages, serveFile } from '../sessions/display-messages.ts'
import { formerKey, lastEdit } from '../sessions/edit.ts'
import { fork } from '../sessions/fork.ts'
import { stop } from './control.ts'
import { ownKey } from './own-key.ts'
import { routes } from './routes.ts'

/** Adds the routes with which callers list, read, copy and delete their sessions. */
export function sessionRoutes(serve: Serve, host: Access & Stores & RunControl & Limits & Seals): void {
  readRoutes(serve, host)
  ownerRoutes(serve, host)
}

/** Adds the routes for reading, which `canRead` may open to other principals. */
function readRoutes(serve: Serve, host: Access & StoreReader & RunReader & Limits & Seals): void {
  serve(routes.sessions, async (c, read) => {
    const caller = await resolveCaller(host, c.req.raw, c.req.param('agent'))
    const { owner = caller.owner, ...pageRequest } = (await read()).query
    const { items, cursor } = await listSessions(host, caller, owner, pageRequest)
    const summaries = items.map(({ key, version, status, updatedAt }) => ({
      id: key.sessionId,
      version,
      status,
      updatedAt,
    }))
    return c.json({ sessions: summaries, cursor })
  })

  serve(routes.messages, async (c, read) => {
    const caller = await resolveCaller(host, c.req.raw, c.req.param('agent'))
    const { params, query } = await read()
    const key = await readableKey(host, caller, params.id, query.owner)
    const { pathname } = new URL(c.req.url)
    const search = query.owner === undefined ? '' : `?owner=${encodeURIComponent(query.owner)}`
    const urlOf = (name: string) => `${pathname.replace(/messages$/, 'files/')}${name}${search}`
    return c.body(toJson(await displayMessages(host, caller, key, query, urlOf)), 200, json)
  })

  serve(routes.file, async (c, read) => {
    const caller = await resolveCaller(host, c.req.raw, c.req.param('agent'))
    const { params, query } = await read()
    return serveFile(host, caller, await readableKey(host, caller, params.id, query.owner), params.file)
  })

  serve(routes.usage, async (c, read) => {
    const caller = await resolveCaller(host, c.req.raw, c.req.param('agent'))
    const { params, query } = await read()
    const { rest } = await requireSession(host, await readableKey(host, caller, params.id, query.owner))
    const usageValue = (name: string) => rest.state[`observe:usage:${name}`] ?? null
    return c.body(
      toJson({ tokens: usageValue('tokens'), cost: usageValue('cost'), models: usageValue('models') }),
      200,
      json,
    )
  })

  serve(routes.state, async (c, read) => {
    const caller = await resolveCaller(host, c.req.raw, c.req.param('agent'))
    const { params, query } = await read()
    const { rest } = await requireSession(host, await readableKey(host, caller, params.id, query.owner))
    const visibleKeys = (host.options.state ?? []).filter((key) => Object.hasOwn(rest.state, key))
    return c.body(toJson({ state: Object.fromEntries(visibleKeys.map((key) => [key, rest.state[key]])) }), 200, json)
  })
}

/** Adds the routes that only the owner of a session may use. */
function ownerRoutes(serve: Serve, host: Access & Stores & RunControl & Limits): void {
  serve(routes.fork, async (c, read) => {
    const caller = await resolveCaller(host, c.req.raw, c.req.param('agent'))
    const { params, query, body } = await read()
    const { id = crypto.randomUUID(), at } = body
    await fork(host, caller, { from: ownKey(caller, params.id, query.owner).sessionId, to: id, at })
    return c.json({ id }, 201)
  })

  serve(routes.delete, async (c, read) => {
    const caller = await resolveCaller(host, c.req.raw, c.req.param('agent'))
    const { params, query } = await read()
    const key = ownKey(caller, params.id, query.owner)
    await requireSession(host, key)
    await deleteSession(host, caller, key)
    return c.body(null, 204)
  })
}

export type DeleteSession = typeof deleteSession

/** Deletes a session, and the conversations that edits of it replaced. */
export async function deleteSession(host: Stores & RunControl, caller: Caller, key: SessionKey): Promise<void> {
  await host.runs.drop(key)
  await stop(host, caller, key)
  const deleteFormer = async (edit: number): Promise<boolean> => {
    const former = await formerKey(key, edit)
    const exists = (await host.sessions.head(former)) !== undefined
    if (exists) await deleteSession(host, caller, former)
    return exists
  }
  const last = await lastEdit(host.sessions, key)
  for (let edit = 1; edit <= last; edit++) await deleteFormer(edit)
  await host.sessions.delete(key)
  await host.events.delete(key)
  // Edits may have ended meanwhile, or stopped after their copy.
  for (let edit = last + 1; await deleteFormer(edit); ) edit++
}

const json = { 'content-type': 'application/json' }

/** Lists sessions. For another owner, returns those that `canRead` allows. Without that rule, reads nothing. */
async function listSessions(
  host: Access & StoreReader & Seals,
  caller: Caller,
  owner: string,
  pageRequest: PageRequest,
): Promise<Page<SessionSummary>> {
  const { tenant, agent, sessionAgent } = caller
  const scope = ['sessions', agent.name, tenant, caller.owner, owner]
  const read: ReadPage<SessionSummary> = (page) =>
    host.sessions.list({ tenant, owner, agents: [sessionAgent], ...page })
  if (owner === caller.owner) return unfilteredPage(host, scope, pageRequest, read)
  if (host.options.canRead === undefined) return { items: [] }
  const toItem = async (session: SessionSummary) => ((await canRead(host, caller, session.key)) ? session : undefined)
  return filteredPage(host, scope, pageRequest, { read, toItem })
}
