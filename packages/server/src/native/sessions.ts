import { toJson } from '@allium/core'
import type { Hono } from 'hono'
import type { Host } from '../host.ts'
import { knowsOnly, readObject } from '../http/body.ts'
import { fail } from '../http/problem.ts'
import { type Env, keyOf, visit } from '../visit.ts'
import { fieldsOf } from './bodies.ts'
import { fork } from './fork.ts'
import { isThere } from './is-there.ts'
import { mayRead, readableKey } from './may-read.ts'
import { stop } from './runs.ts'
import { shownMessages } from './shown-messages.ts'

/** The routes by which somebody finds, reads, copies and deletes sessions of their own. */
export function sessionRoutes(app: Hono<Env>, host: Host, at: string): void {
  const { sessions } = host

  app.get(`${at}/sessions`, async (c) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const { tenant } = asks
    const { owner = asks.owner, ...query } = c.req.query()
    const { items, cursor } = await sessions.list({ tenant, owner, ...pageIn(query) })
    const shown: object[] = []
    for (const { key, version, status, updatedAt } of items)
      if (await mayRead(host, asks, key)) shown.push({ id: key.sessionId, version, status, updatedAt })
    return c.json({ sessions: shown, cursor })
  })

  app.get(`${at}/sessions/:id/messages`, async (c) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const key = await readableKey(host, asks, c.req.param('id'), c.req.query('owner'))
    return c.body(toJson(await shownMessages(host, asks, key)), 200, json)
  })

  app.get(`${at}/sessions/:id/usage`, async (c) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const { rest } = await isThere(host, await readableKey(host, asks, c.req.param('id'), c.req.query('owner')))
    const told = (name: string) => rest.state[`observe:usage:${name}`] ?? null
    return c.body(toJson({ tokens: told('tokens'), cost: told('cost'), models: told('models') }), 200, json)
  })

  app.get(`${at}/sessions/:id/state`, async (c) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const { rest } = await isThere(host, await readableKey(host, asks, c.req.param('id'), c.req.query('owner')))
    const open = (host.options.state ?? []).filter((key) => Object.hasOwn(rest.state, key))
    return c.body(toJson({ state: Object.fromEntries(open.map((key) => [key, rest.state[key]])) }), 200, json)
  })

  app.post(`${at}/sessions/:id/fork`, async (c) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const body = await readObject(c.req.raw, host.maxBody)
    knowsOnly(body, fieldsOf('fork'))
    const { id = crypto.randomUUID(), at: turnId } = body
    if (typeof id !== 'string' || (turnId !== undefined && typeof turnId !== 'string'))
      throw fail('request.invalid', 'The fields `id` and `at` are texts: the id of the new session, and that of a run.')
    await fork(host, asks, { from: c.req.param('id'), to: id, at: turnId })
    return c.json({ id }, 201)
  })

  app.delete(`${at}/sessions/:id`, async (c) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const key = keyOf(asks, c.req.param('id'))
    const stops = await stop(host, asks, key)
    if (!stops) await isThere(host, key)
    await sessions.delete(key)
    return c.body(null, 204)
  })
}

const json = { 'content-type': 'application/json' }

/** @throws AlliumError `request.invalid` */
export function pageIn({ cursor, limit = '20' }: Record<string, string>): { cursor?: string; limit: number } {
  const most = Number(limit)
  if (!Number.isInteger(most) || most < 1 || most > 100)
    throw fail('request.invalid', 'The parameter `limit` is a number from 1 to 100.')
  return cursor === undefined ? { limit: most } : { cursor, limit: most }
}
