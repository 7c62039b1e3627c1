import type { Limits, Seals, Stores } from '../host/host.ts'
import { requestError } from '../http/problem.ts'
import { object } from '../request/containers.ts'
import { fileName, id, storedOwner as owner, pageQuery, sessionId } from '../request/fields.ts'
import { unfilteredPage } from '../request/listing.ts'
import { sessionNotFound } from '../request/not-found.ts'
import { route } from '../request/route.ts'
import type { Serve } from '../request/router.ts'
import { described, integerText, optional } from '../request/schema.ts'
import { download } from '../sessions/files.ts'
import { forkSnapshot, snapshotAfter, snapshotAt } from '../sessions/fork.ts'
import { fileNotFound, findStoredFile } from './files.ts'
import type { Inspecting } from './inspecting.ts'
import { plainJson } from './plain-json.ts'
import { AuditedSessions, type OpenedSession, type ReadOnlyStore, sealedReason } from './read-only-store.ts'
import { turnsOf } from './stored-turns.ts'

const before = described(optional(integerText(1, 1_000_000_000, 1)), 'Only turns before this version of the session.')

const routes = {
  sessions: route({
    method: 'get',
    path: '/inspect/read-only/sessions',
    summary: 'List the sessions of the read-only store in the tenant of the caller',
    query: pageQuery,
    isHidden: true,
  }),
  turns: route({
    method: 'get',
    path: '/inspect/read-only/sessions/:id/turns',
    summary: 'List the turns of a session of the read-only store, which the audit records',
    query: { owner, before },
    isHidden: true,
  }),
  file: route({
    method: 'get',
    path: '/inspect/read-only/sessions/:id/files/:file',
    summary: 'Get a file of a session of the read-only store, which the audit records',
    params: { id: sessionId, file: fileName },
    query: { owner },
    isHidden: true,
  }),
  copy: route({
    method: 'post',
    path: '/inspect/read-only/sessions/:id/copy',
    summary: 'Copy a session of the read-only store to a new session of the caller, which the audit records',
    query: { owner },
    body: object({
      id: sessionId,
      at: described(optional(id), 'The run after which the copy ends. Default: the latest one.'),
    }),
    isHidden: true,
  }),
}

/** Adds the routes for a read-only store. */
export function readOnlyRoutes(
  serve: Serve,
  host: Stores & Limits & Seals,
  inspecting: Inspecting,
  store: ReadOnlyStore,
): void {
  const audited = new AuditedSessions(store, host.clock)
  const opening = openingWith(inspecting, audited)
  listRoute(serve, host, inspecting, audited)
  contentRoutes(serve, host, opening)
  if (store.copies !== false) copyRoute(serve, host, opening)
}

function listRoute(serve: Serve, seals: Seals, inspecting: Inspecting, audited: AuditedSessions): void {
  serve(routes.sessions, async (c, read) => {
    const { caller, scope } = await inspecting(c.req.raw, c.req.param('agent'))
    const { query } = await read()
    const { tenant, agent } = caller
    const of = { tenant, agents: [...agent.sessionNames], ...(scope === 'own' && { owner: caller.owner }) }
    const listScope = ['inspect:read-only', agent.name, tenant, of.owner ?? '']
    const { items, cursor } = await unfilteredPage(seals, listScope, query, (page) => audited.list({ ...of, ...page }))
    const listed = items.map(({ key, version, status, updatedAt }) => {
      return { id: key.sessionId, tenant: key.tenant, owner: key.owner, version, status, updatedAt }
    })
    return c.json({ sessions: listed, cursor })
  })
}

/** Adds the routes that show the content of a session. */
function contentRoutes(serve: Serve, { slots }: Limits, opening: Opening): void {
  serve(routes.turns, async (c, read) => {
    const { caller, query, open } = await opening(c.req.raw, c.req.param('agent'), read)
    const opened = await open('turns')
    // `read()` fills in 1 for an absent number.
    const version = new URL(c.req.url).searchParams.has('before') ? query.before : undefined
    const view = await slots.files.run(caller, () => viewOf(opened, version))
    return c.body(plainJson(view), 200, { 'content-type': 'application/json' })
  })

  serve(routes.file, async (c, read) => {
    const { caller, params, open } = await opening(c.req.raw, c.req.param('agent'), read)
    const { sessions, key } = await open('file')
    return slots.files.run(caller, async () => {
      const file = sessions && (await findStoredFile(sessions, key, params.file))
      if (file === undefined) throw fileNotFound(params)
      return download(file)
    })
  })
}

function copyRoute(serve: Serve, host: Stores & Limits, opening: Opening): void {
  serve(routes.copy, async (c, read) => {
    const { caller, params, body, open } = await opening(c.req.raw, c.req.param('agent'), read)
    const opened = await open('copy')
    if (opened.sealed !== undefined)
      throw requestError(
        'store.conflict',
        `The content of the session ${JSON.stringify(params.id)} is sealed, so it was not copied. Open the store with its option encrypt.`,
      )
    const { sessions, key } = opened
    const { at } = body
    await forkSnapshot(host, caller, body.id, () =>
      at === undefined ? snapshotAt(sessions, key) : snapshotAfter(sessions, key, at),
    )
    return c.json({ id: body.id }, 201)
  })
}

type Opening = ReturnType<typeof openingWith>

/** Returns a function that checks the access to a session. Its `open` reads the session and records the look. */
function openingWith(inspecting: Inspecting, audited: AuditedSessions) {
  return async <P extends { id: string }, Q extends { owner?: string | undefined }, B>(
    request: Request,
    agent: string | undefined,
    read: () => Promise<{ params: P; query: Q; body: B }>,
  ) => {
    const { caller, scope } = await inspecting(request, agent)
    const { params, query, body } = await read()
    const of = { owner: query.owner ?? caller.owner, id: params.id }
    if (scope === 'own' && of.owner !== caller.owner) throw sessionNotFound(params.id)
    const open = (look: 'turns' | 'file' | 'copy') => audited.open(look, caller, of)
    return { caller, params, query, body, open }
  }
}

/** Returns the turns, or the reason why their content is sealed. Pending calls are left out: their tokens decide them. */
async function viewOf(opened: OpenedSession, beforeVersion: number | undefined): Promise<object> {
  const sealed = (reason: string) => ({ turns: [], pending: [], running: false, sealed: reason })
  if (opened.sealed !== undefined) return sealed(opened.sealed)
  const { sessions, key, head } = opened
  try {
    return { ...(await turnsOf(sessions, key, head, beforeVersion)), pending: [] }
  } catch (error) {
    return sealed(sealedReason(error))
  }
}
