import type { SessionKey } from '@allium/core'
import type { Access, Limits, RunReader, Seals, StoreReader, Stores } from '../host/host.ts'
import { type Caller, keyOf } from '../request/caller.ts'
import { fileName, owner, pageQuery, sessionId } from '../request/fields.ts'
import { filteredPage } from '../request/listing.ts'
import { sessionNotFound } from '../request/not-found.ts'
import { route } from '../request/route.ts'
import type { Serve } from '../request/router.ts'
import { described, integerText, optional, text } from '../request/schema.ts'
import { download, type File } from '../sessions/files.ts'
import type { AccessRule, InspectAccess } from './access.ts'
import { Feed } from './feed.ts'
import { fileNotFound, findStoredFile } from './files.ts'
import { type Inspecting, inspectingWith } from './inspecting.ts'
import { plainJson } from './plain-json.ts'
import { readOnlyRoutes } from './read-only-routes.ts'
import type { ReadOnlyStore } from './read-only-store.ts'
import { existenceIn, isIn } from './recorded-run.ts'
import { sessionUsage } from './session-usage.ts'
import { storedTurns } from './stored-turns.ts'
import type { LoggedRecord, TraceLog } from './trace-log.ts'

const after = described(
  optional(text({ max: 100 })),
  'The id of the last event that the client received. Default: all records in memory.',
)
const before = described(optional(integerText(1, 1_000_000_000, 1)), 'Only turns before this version of the session.')

const routes = {
  agent: route({
    method: 'get',
    path: '/inspect',
    summary: 'Get the layers and tools of the agent, and the findings of its check',
    isHidden: true,
  }),
  feed: route({
    method: 'get',
    path: '/inspect/feed',
    summary: 'Follow the records of all turns that the caller may inspect',
    query: { after },
    isHidden: true,
  }),
  sessions: route({
    method: 'get',
    path: '/inspect/sessions',
    summary: 'List the sessions that the caller may inspect, in their tenant',
    query: pageQuery,
    isHidden: true,
  }),
  usage: route({
    method: 'get',
    path: '/inspect/usage',
    summary: 'List the tokens and the cost of the sessions that changed last',
    isHidden: true,
  }),
  turns: route({
    method: 'get',
    path: '/inspect/sessions/:id/turns',
    summary: 'List the turns of a session with their messages',
    query: { owner, before },
    isHidden: true,
  }),
  file: route({
    method: 'get',
    path: '/inspect/sessions/:id/files/:file',
    summary: 'Get an image or a file of a session',
    params: { id: sessionId, file: fileName },
    query: { owner },
    isHidden: true,
  }),
}

interface Inspected {
  readonly log: TraceLog
  readonly access: AccessRule
  readonly readOnly: ReadOnlyStore | undefined
}

/** Sessions in one list of usage. */
const maxUsage = 30

/** Adds the routes of the inspector. To callers without access, they do not exist. */
export function inspectRoutes(
  serve: Serve,
  host: Access & Stores & RunReader & Limits & Seals,
  { log, access, readOnly }: Inspected,
): void {
  const inspecting = inspectingWith(host, access)
  if (readOnly !== undefined) readOnlyRoutes(serve, host, inspecting, readOnly)
  agentRoutes(serve, new Feed(host, log), inspecting)
  listRoutes(serve, host, inspecting)
  contentRoutes(serve, host, { inspecting, log })
}

/** An agent, or a group of agents, with what only some of them have. */
interface Inspectable {
  readonly agents?: readonly Inspectable[]
  inspect(): object
  check?(): readonly unknown[]
}

function inspectionOf(agent: Inspectable) {
  return { ...agent.inspect(), findings: agent.check?.() ?? [], agents: agent.agents }
}

/** Adds the routes that show an agent, and its turns as they run. */
function agentRoutes(serve: Serve, feed: Feed, inspecting: Inspecting): void {
  serve(routes.agent, async (c, read) => {
    const { caller } = await inspecting(c.req.raw, c.req.param('agent'))
    await read()
    const { agents, ...inspected } = inspectionOf(caller.agent)
    return c.body(plainJson({ ...inspected, ...(agents && { agents: agents.map(inspectionOf) }) }), 200, jsonHeaders)
  })

  serve(routes.feed, async (c, read) => {
    const { caller, scope } = await inspecting(c.req.raw, c.req.param('agent'))
    const { query } = await read()
    return feed.follow(c.req.raw.signal, query.after, (record) => isVisible(record, caller, scope))
  })
}

/** Adds the routes that list sessions, without their messages. */
function listRoutes(serve: Serve, host: StoreReader & Seals, inspecting: Inspecting): void {
  serve(routes.sessions, async (c, read) => {
    const { caller, scope } = await inspecting(c.req.raw, c.req.param('agent'))
    const { tenant, sessionAgent } = caller
    const filter = sessionFilter(caller, scope)
    const { items, cursor } = await filteredPage(
      host,
      ['inspect', sessionAgent, tenant, filter.owner ?? ''],
      (await read()).query,
      {
        read: (page) => host.sessions.list({ ...filter, ...page }),
        toItem: async ({ key, version, status, updatedAt }) => ({
          id: key.sessionId,
          tenant: key.tenant,
          owner: key.owner,
          version,
          status,
          updatedAt,
        }),
      },
    )
    return c.json({ sessions: items, cursor })
  })

  serve(routes.usage, async (c, read) => {
    const { caller, scope } = await inspecting(c.req.raw, c.req.param('agent'))
    await read()
    const { items } = await host.sessions.list({ ...sessionFilter(caller, scope), limit: maxUsage })
    return c.json({ sessions: await Promise.all(items.map((item) => sessionUsage(host.sessions, item))) })
  })
}

/** Adds the routes that show the content of a session. */
function contentRoutes(
  serve: Serve,
  host: StoreReader & Limits,
  { inspecting, log }: { inspecting: Inspecting; log: TraceLog },
): void {
  serve(routes.turns, async (c, read) => {
    const { caller, scope } = await inspecting(c.req.raw, c.req.param('agent'))
    const { params, query } = await read()
    const key = inspectableKey(caller, scope, params.id, query.owner)
    // `read()` fills in 1 for an absent number.
    const beforeVersion = new URL(c.req.url).searchParams.has('before') ? query.before : undefined
    // Each file is read, because its view has its digest.
    const { pending, ...stored } = await host.slots.files.run(caller, () =>
      storedTurns(host, caller, key, beforeVersion),
    )
    // The owner needs the tokens, which are credentials otherwise.
    const calls = pending.map(({ token, ...call }) => ({ ...(JSON.parse(plainJson(call)) as object), token }))
    return c.json({ ...(JSON.parse(plainJson(stored)) as object), pending: calls })
  })

  serve(routes.file, async (c, read) => {
    const { caller, scope } = await inspecting(c.req.raw, c.req.param('agent'))
    const { params, query } = await read()
    const key = inspectableKey(caller, scope, params.id, query.owner)
    return host.slots.files.run(caller, async () => {
      const file =
        (await findStoredFile(host.sessions, key, params.file)) ??
        (await recentFile(host, log, { key, hash: params.file }))
      if (file === undefined) throw fileNotFound(params)
      return download(file)
    })
  })
}

/** Returns a file that the store does not have yet. */
async function recentFile(
  stores: StoreReader,
  { files }: TraceLog,
  { key, hash }: { key: SessionKey; hash: string },
): Promise<File | undefined> {
  const recent = await files.find((run) => isIn(key, run.key), hash)
  return recent !== undefined && (await existenceIn(stores)(recent.run)) ? recent.file : undefined
}

function sessionFilter(caller: Caller, scope: InspectAccess) {
  return { tenant: caller.tenant, agents: [caller.sessionAgent], ...(scope === 'own' && { owner: caller.owner }) }
}

/** @throws AlliumError `session.not_found` for the session of another owner that the caller may not inspect */
function inspectableKey(caller: Caller, scope: InspectAccess, id: string, sessionOwner = caller.owner): SessionKey {
  if (scope !== 'own' || sessionOwner === caller.owner) return { ...keyOf(caller, id), owner: sessionOwner }
  throw sessionNotFound(id)
}

function isVisible({ run: { key } }: LoggedRecord, caller: Caller, scope: InspectAccess): boolean {
  if (key.agent !== caller.sessionAgent) return false
  if (scope === 'all') return true
  return key.tenant === caller.tenant && (scope === 'tenant' || key.owner === caller.owner)
}

const jsonHeaders = { 'content-type': 'application/json' }
