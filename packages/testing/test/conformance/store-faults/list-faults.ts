import type { Page, SessionStore, SessionSummary, StoredPendingCall } from '@allium/store'
import type { Breaks, Fault } from './fault.ts'

type Listed = Parameters<SessionStore['list']>[0]
const most = 1e6

/** Faults with what a tenant has: its sessions, and its calls that wait. */
export const listFaults: readonly Fault[] = [
  [
    'lists the oldest first',
    (store) => ({ list: async (of) => ({ items: (await store.list(of)).items.toReversed() }) }),
    'lists the sessions of a tenant, those that were changed last first',
  ],
  [
    'tells seconds',
    (store) => ({
      list: async (of) => {
        const { items, ...rest } = await store.list(of)
        return { items: items.map((item) => ({ ...item, updatedAt: Math.floor(item.updatedAt / 1000) })), ...rest }
      },
    }),
    'lists the sessions of a tenant, those that were changed last first',
  ],
  [
    'lists all owners',
    (store) => ({ list: ({ owner: _, ...of }) => store.list(of) }),
    'lists no session of another tenant or owner',
  ],
  [
    'takes an empty owner for all',
    (store) => ({ list: ({ owner, ...of }) => store.list({ ...of, ...(owner && { owner }) }) }),
    'lists no session of another tenant or owner',
  ],
  [
    'ignores the case of tenants',
    (store) => ({
      list: async (of) => {
        const names = new Set([of.tenant, of.tenant.toLowerCase(), of.tenant.toUpperCase()])
        const pages = await Promise.all([...names].map((tenant) => store.list({ ...of, tenant })))
        return { items: pages.flatMap(({ items }) => items) }
      },
    }),
    'lists no session of another tenant or owner',
  ],
  [
    'gives a cursor with every page',
    (store) => ({
      list: async (of) => {
        const { items, cursor = JSON.stringify([most, '']) } = await store.list(of)
        return { items, cursor }
      },
    }),
    'lists each session once over pages of any size, also where all were changed at once',
  ],
  [
    'pages by time alone',
    pages(
      (all, cursor) => (cursor === undefined ? 0 : all.findIndex(({ updatedAt }) => updatedAt < Number(cursor))),
      ({ updatedAt }) => updatedAt,
    ),
    'lists each session once over pages of any size, also where all were changed at once',
  ],
  [
    'gives pages of its own size',
    (store) => ({ list: (of) => store.list({ ...of, limit: 10 }) }),
    'lists each session once over pages of any size, also where all were changed at once',
  ],
  [
    'pages by number',
    pages(
      (_, cursor) => Number(cursor ?? 0),
      (_, end) => end,
    ),
    'loses and repeats no session over pages while others are added',
  ],
  [
    'lists sessions with a turn',
    (store) => ({
      list: async (of) => ({ items: (await store.list(of)).items.filter(({ version }) => version > 0) }),
    }),
    'lists a session during its first run, but not one that is only locked',
  ],
  ['lists by what a cursor says', trustsCursors, 'treats a cursor as a position that grants no access'],
  [
    'tells the calls that wait, the newest first',
    (store) => ({ pendingCalls: async (of) => ({ items: (await store.pendingCalls(of)).items.toReversed() }) }),
    'tells the calls of a tenant that wait, the oldest first',
  ],
  [
    'tells the calls of all tenants',
    (store) => ({
      pendingCalls: async (of) => {
        const all = [await store.pendingCalls(of), await store.pendingCalls({ ...of, tenant: 'globex' })]
        return { items: all.flatMap(({ items }) => items) }
      },
    }),
    'tells the calls of a tenant that wait, the oldest first',
  ],
  [
    'gives the waiting calls of all owners',
    (store) => ({ pendingCalls: ({ owner: _, ...of }) => store.pendingCalls(of) }),
    'lists the waiting calls of one owner, page by page, and none of another',
  ],
  [
    'takes an empty owner of waiting calls for all',
    (store) => ({ pendingCalls: ({ owner, ...of }) => store.pendingCalls({ ...of, ...(owner && { owner }) }) }),
    'lists the waiting calls of one owner, page by page, and none of another',
  ],
  ['pages by sessions that wait', pagesBySession, 'tells each waiting call once over pages of any size'],
  [
    'finds tokens in all tenants',
    (store) => ({
      findPendingCall: async (of) =>
        (await store.findPendingCall(of)) ?? store.findPendingCall({ ...of, tenant: 'acme' }),
    }),
    'finds a waiting call by its token, in its tenant alone',
  ],
  [
    'finds calls that were decided',
    remembersCalls,
    'tells of a call no more once it is decided, or its session is deleted',
  ],
  [
    'forgets calls after their time',
    (store, clock) => ({
      pendingCalls: async (of) => {
        const { items, ...rest } = await store.pendingCalls(of)
        return { items: items.filter(({ expiresAt = most }) => expiresAt > clock.now()), ...rest }
      },
    }),
    'tells of a call also after its time, since it can still be refused',
  ],
]

/** Pages that begin where a cursor says, and end with a cursor. */
function pages(
  begin: (all: readonly SessionSummary[], cursor: string | undefined) => number,
  cursorOf: (last: SessionSummary, end: number) => number,
): Breaks {
  return (store) => ({
    async list({ cursor, limit, ...of }: Listed): Promise<Page<SessionSummary>> {
      const { items: all } = await store.list({ ...of, limit: most })
      const from = begin(all, cursor)
      const items = from < 0 ? [] : all.slice(from, from + limit)
      const last = items.at(-1)
      const end = from + items.length
      return last === undefined || end >= all.length ? { items } : { items, cursor: String(cursorOf(last, end)) }
    },
  })
}

function trustsCursors(store: SessionStore): Partial<SessionStore> {
  return {
    async list({ cursor, ...of }) {
      if (cursor?.startsWith('acme/') === true) return store.list({ ...of, tenant: 'acme' })
      const { items, cursor: next } = await store.list(of)
      return next === undefined ? { items } : { items, cursor: `${of.tenant}/${next}` }
    },
  }
}

/** The cursor names the last session: its other calls are lost. */
function pagesBySession(store: SessionStore): Partial<SessionStore> {
  return {
    async pendingCalls({ cursor = '', limit, ...of }): Promise<Page<StoredPendingCall>> {
      const { items: all } = await store.pendingCalls({ ...of, limit: most })
      const rest = all.filter(({ key }) => key.sessionId > cursor)
      const items = rest.slice(0, limit)
      const last = items.at(-1)?.key.sessionId
      return last === undefined || rest.every(({ key }) => key.sessionId <= last) ? { items } : { items, cursor: last }
    },
  }
}

function remembersCalls(store: SessionStore): Partial<SessionStore> {
  const known = new Map<string, StoredPendingCall>()
  return {
    async findPendingCall(of) {
      const found = await store.findPendingCall(of)
      if (found !== undefined) known.set(of.token, found)
      return known.get(of.token)
    },
  }
}
