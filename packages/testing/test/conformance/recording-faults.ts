import type { Recording, RecordingInfo, RecordingQuery, RecordingStore, SessionStore } from '@allium/store'
import type { RecordingStoreParts } from '../../src/recordings.ts'

type Fault = [fault: string, breaks: (parts: RecordingStoreParts) => Broken, found: string]
/** The functions of recordings that a fault replaces, or its sessions. */
export type Broken = Partial<RecordingStore> & { sessions?: SessionStore }

/** Adds recordings that differ from those that were given. */
const added =
  (change: (recording: Recording) => Recording) =>
  ({ recordings }: RecordingStoreParts) => ({
    add: (recording: Recording, by?: never) => recordings.add(change(recording), by),
  })
/** Asks with another query. */
const queried =
  (change: (query: RecordingQuery) => RecordingQuery) =>
  ({ recordings }: RecordingStoreParts) => ({
    list: (query: RecordingQuery) => recordings.list(change(query)),
  })
/** Pages by another cursor than the store: of a whole list, those after a place. */
const paged =
  (
    after: (all: RecordingInfo[], cursor: string) => RecordingInfo[],
    cursorOf: (last: RecordingInfo, n: number) => string,
  ) =>
  ({ recordings }: RecordingStoreParts): Partial<RecordingStore> => ({
    async list({ cursor, limit, ...query }) {
      const { items: all } = await recordings.list({ ...query, limit: 1e6 })
      const rest = cursor === undefined ? all : after(all, cursor)
      const items = rest.slice(0, limit)
      const last = items.at(-1)
      if (last === undefined || rest.length <= limit) return { items }
      return { items, cursor: cursorOf(last, all.length - rest.length + limit) }
    },
  })
/** Stores the recordings again that a method of the sessions has deleted or moved. */
const kept =
  (method: 'delete' | 'erase' | 'expire' | 'rename') =>
  ({ recordings, sessions }: RecordingStoreParts) => ({
    sessions: {
      ...sessions,
      async [method](...args: unknown[]) {
        const pages = await Promise.all(['agent', 'other'].map((agent) => recordings.list({ agent, limit: 100 })))
        const all = await Promise.all(pages.flatMap(({ items }) => items).map((item) => recordings.get(item)))
        const result = await (sessions[method] as (...args: unknown[]) => Promise<unknown>)(...args)
        for (const one of all) if (one !== undefined) await recordings.add(one)
        return result
      },
    },
  })

/** Each fault that a store may have, and the case that must find it. */
export const recordingFaults: readonly Fault[] = [
  [
    'drops what JSON escapes',
    added((one) => ({ ...one, content: one.content.replace('\\u0000', '') })),
    'returns a recording as it was added, also to other processes',
  ],
  [
    'has something for everybody',
    ({ recordings }) => ({
      get: async (run) => (await recordings.get(run)) ?? { ...run, startedAt: 0, expiresAt: 0, content: '' },
    }),
    'has nothing of a turn that was not recorded',
  ],
  [
    'keeps the first',
    ({ recordings }) => ({
      add: async (one, by) => ((await recordings.get(one)) === undefined ? recordings.add(one, by) : undefined),
    }),
    'replaces the recording of the same turn',
  ],
  [
    'counts characters',
    ({ recordings }) => ({ add: (one, by) => recordings.add({ ...one, content: one.content.slice(0, 499_999) }, by) }),
    'rejects a content over the limit, measured in bytes, and stores one at the limit',
  ],
  [
    'rounds times',
    added((one) => ({ ...one, startedAt: Math.round(one.startedAt) })),
    'rejects names that are not plain text, and times that are not whole milliseconds',
  ],
  [
    'joins the owner and the session',
    added(({ key, ...one }) => ({ ...one, key: { ...key, owner: '', sessionId: `${key.owner}${key.sessionId}` } })),
    'keeps tenants, owners, agents, sessions and turns apart, whatever their names are',
  ],
  [
    'ignores the case of the tenant',
    ({ recordings }) => ({
      get: ({ key, turnId }) => recordings.get({ turnId, key: { ...key, tenant: key.tenant.toLowerCase() } }),
    }),
    'returns nothing of a turn to a caller that names another tenant, owner, agent or session',
  ],
  [
    'counts all tenants as one',
    ({ recordings }) => ({ sizes: async () => (await recordings.sizes()).slice(0, 1) }),
    'reports how many recordings each tenant has, their bytes and the oldest',
  ],
  [
    'never expires',
    added((one) => ({ ...one, expiresAt: 9e15 })),
    'returns no expired recording, and prune() deletes them and tells how many',
  ],
  [
    'keeps expired recordings until they are pruned',
    ({ recordings }) => ({ sizes: async () => (await recordings.sizes()).map((one) => ({ ...one, count: 3 })) }),
    'deletes expired recordings as it stores others',
  ],
  [
    'lists the oldest first',
    queried((query) => ({ order: 'asc', ...query })),
    'lists the recordings of an agent without their content, the newest first, or the oldest',
  ],
  [
    'takes until for the last time',
    queried(({ until, ...query }) => ({ ...query, until: until && until + 1 })),
    'lists turns from a time on and before another',
  ],
  ['lists all tenants', queried(({ tenant: _, ...query }) => query), 'lists no recording of another tenant or agent'],
  [
    'takes an empty tenant for all',
    queried(({ tenant, ...query }) => ({ ...query, ...(tenant && { tenant }) })),
    'lists no recording of another tenant or agent',
  ],
  [
    'pages by time alone',
    paged(
      (all, cursor) => all.filter(({ startedAt }) => startedAt < Number(cursor)),
      ({ startedAt }) => String(startedAt),
    ),
    'lists each recording once over pages of any size, also where all turns began at once',
  ],
  [
    'pages by number',
    paged(
      (all, cursor) => all.slice(Number(cursor)),
      (_, n) => String(n),
    ),
    'lists those that were there once, while others are added and replaced',
  ],
  [
    'begins again after an invalid cursor',
    ({ recordings }) => ({
      list: (query) => recordings.list(query).catch(() => recordings.list({ ...query, cursor: undefined })),
    }),
    'rejects an invalid cursor',
  ],
  [
    'keeps the recordings of a deleted session',
    kept('delete'),
    'deletes the recordings of a session with it, also of one that was not stored',
  ],
  [
    'keeps the recordings of an erased owner',
    kept('erase'),
    'erases the recordings of an owner, and of a tenant, and no others',
  ],
  ['keeps the recordings of an expired session', kept('expire'), 'deletes the recordings of sessions that expire'],
  [
    'ignores who writes',
    ({ recordings }) => ({ add: (one) => recordings.add(one) }),
    'rejects the recording of a run that began before its session, owner or tenant was erased',
  ],
  [
    'fences every run',
    ({ recordings }) => ({ add: (one, by) => recordings.add(one, by && { ...by, since: -1e15 }) }),
    'stores the recording of a run that began after the erasure',
  ],
  [
    'leaves the recordings of a renamed session behind',
    kept('rename'),
    'moves the recordings of a session whose agent was renamed, and erases them with it',
  ],
]
