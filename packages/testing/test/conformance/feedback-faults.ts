import type { Writer } from '@allium/core'
import type { Feedback, FeedbackKey, FeedbackQuery, FeedbackStore, SessionStore } from '@allium/store'
import type { FeedbackStoreParts } from '../../src/feedback.ts'

type Fault = [fault: string, breaks: (parts: FeedbackStoreParts) => Broken, found: string]
/** The functions of a store that a fault replaces, or its sessions. */
export type Broken = Partial<FeedbackStore> & { sessions?: SessionStore }

/** Stores feedback that differs from what was given. */
const stored =
  (change: (feedback: Feedback) => Feedback) =>
  ({ feedback }: FeedbackStoreParts) => ({
    put: (one: Feedback, writer?: Writer) => feedback.put(change(one), writer),
  })
/** Asks with another query. */
const queried =
  (change: (query: FeedbackQuery) => FeedbackQuery) =>
  ({ feedback }: FeedbackStoreParts) => ({ list: (query: FeedbackQuery) => feedback.list(change(query)) })
/** Pages by another cursor than the store: of a whole list, those after a place. */
const paged =
  (after: (all: Feedback[], cursor: string) => Feedback[], cursorOf: (last: Feedback, n: number) => string) =>
  ({ feedback }: FeedbackStoreParts): Partial<FeedbackStore> => ({
    async list({ cursor, limit, ...query }) {
      const { items: all } = await feedback.list({ ...query, limit: 1e6 })
      const rest = cursor === undefined ? all : after(all, cursor)
      const items = rest.slice(0, limit)
      const last = items.at(-1)
      if (last === undefined || rest.length <= limit) return { items }
      return { items, cursor: cursorOf(last, all.length - rest.length + limit) }
    },
  })
/** Stores the feedback again that a method of the sessions has deleted or moved. */
const kept =
  (method: 'delete' | 'erase' | 'expire' | 'rename', isKept: (one: Feedback, of: unknown) => boolean = () => true) =>
  ({ feedback, sessions }: FeedbackStoreParts) => ({
    sessions: {
      ...sessions,
      async [method](...args: unknown[]) {
        const pages = await Promise.all(['agent', 'other'].map((agent) => feedback.list({ agent, limit: 100 })))
        const result = await (sessions[method] as (...args: unknown[]) => Promise<unknown>)(...args)
        for (const one of pages.flatMap(({ items }) => items)) if (isKept(one, args[0])) await feedback.put(one)
        return result
      },
    },
  })
const lowerCase = ({ run: { key, turnId }, ...rest }: FeedbackKey) => ({
  ...rest,
  run: { turnId, key: { ...key, tenant: key.tenant.toLowerCase() } },
})

/** Each fault that a store may have, and the case that must find it. */
export const feedbackFaults: readonly Fault[] = [
  [
    'drops what JSON escapes',
    stored((one) => ({ ...one, comment: one.comment?.replace('\u0000', '') })),
    'returns feedback as it was given, also to other processes',
  ],
  [
    'has something for everybody',
    ({ feedback }) => ({ get: async (of) => (await feedback.get(of)) ?? { ...of, score: 1, at: 0 } }),
    'has nothing of a run without feedback',
  ],
  [
    'keeps the first',
    ({ feedback }) => ({
      put: async (one, writer) => ((await feedback.get(one)) === undefined ? feedback.put(one, writer) : undefined),
    }),
    'keeps the last feedback of a person on a run, in all its parts',
  ],
  [
    'has one feedback for each run',
    stored((one) => ({ ...one, by: 'ann' })),
    'keeps the feedback of each person apart',
  ],
  [
    'clamps scores',
    stored((one) => ({ ...one, score: Math.min(1, Math.max(0, one.score)) })),
    'rejects scores, comments and tags out of bounds, and stores those at the bounds',
  ],
  [
    'rounds times',
    stored((one) => ({ ...one, at: Math.round(one.at) })),
    'rejects names that are not plain text, and times that are not whole milliseconds',
  ],
  [
    'joins the owner and the session',
    stored(({ run: { key, turnId }, ...one }) => ({
      ...one,
      run: { turnId, key: { ...key, owner: '', sessionId: `${key.owner}${key.sessionId}` } },
    })),
    'keeps tenants, owners, agents, sessions, runs and people apart, whatever their names are',
  ],
  [
    'ignores the case of the tenant',
    ({ feedback }) => ({ get: (of) => feedback.get(lowerCase(of)) }),
    'returns nothing to a caller that names another tenant, owner, agent, session or person',
  ],
  [
    'returns the feedback on runs by time',
    ({ feedback }) => ({ ofRuns: async (runs) => (await feedback.ofRuns(runs)).toSorted((a, b) => b.at - a.at) }),
    'returns the feedback on the given runs, by run, and rejects too many',
  ],
  [
    'counts all tenants as one',
    ({ feedback }) => ({ summary: async (of) => (await feedback.summary(of)).slice(0, 1) }),
    'counts feedback by tenant and agent, with its mean score and the time of the newest',
  ],
  [
    'lists the oldest first',
    queried((query) => ({ order: 'asc', ...query })),
    'lists the feedback on an agent with its comments, the newest first, or the oldest',
  ],
  [
    'takes until for the last time',
    queried(({ until, ...query }) => ({ ...query, until: until && until + 1 })),
    'lists feedback from a time on and before another, and between two scores',
  ],
  [
    'lists all sessions',
    queried(({ sessionId: _, ...query }) => query),
    'lists no feedback of another tenant, owner, agent, session or person',
  ],
  [
    'pages by time alone',
    paged(
      (all, cursor) => all.filter(({ at }) => at < Number(cursor)),
      ({ at }) => String(at),
    ),
    'lists each feedback once over pages of any size, also where all were given at once',
  ],
  [
    'pages by number',
    paged(
      (all, cursor) => all.slice(Number(cursor)),
      (_, n) => String(n),
    ),
    'lists those that were there once, while others are added',
  ],
  [
    'begins again after an invalid cursor',
    ({ feedback }) => ({
      list: (query) => feedback.list(query).catch(() => feedback.list({ ...query, cursor: undefined })),
    }),
    'rejects an invalid cursor',
  ],
  [
    'keeps the feedback on a deleted session',
    kept('delete'),
    'deletes the feedback on a session with it, also on one that was not stored',
  ],
  [
    'keeps the feedback on the sessions of an erased owner',
    kept('erase'),
    'erases the feedback on the sessions of an owner, and of a tenant, and no others',
  ],
  [
    'keeps what an erased person said about others',
    kept('erase', ({ by, run: { key } }, of) => by === (of as { owner?: string }).owner && key.owner !== by),
    'erases the feedback of a person on the sessions of others, and no feedback of others',
  ],
  ['keeps the feedback on an expired session', kept('expire'), 'deletes the feedback on sessions that expire'],
  [
    'ignores who writes',
    ({ feedback }) => ({ put: (one) => feedback.put(one) }),
    'rejects feedback on a session that was erased, with its owner or tenant, while it was given',
  ],
  [
    'knows only the owner of the session',
    ({ feedback }) => ({ put: (one, writer) => feedback.put(one, writer?.owner === 'bob' ? undefined : writer) }),
    'rejects feedback of a person who was erased while they gave it',
  ],
  [
    'fences every request',
    ({ feedback }) => ({ put: (one, writer) => feedback.put(one, writer && { ...writer, since: -1e15 }) }),
    'stores feedback that is given after the erasure',
  ],
  [
    'leaves the feedback on a renamed session behind',
    kept('rename'),
    'moves the feedback on a session whose agent was renamed, and erases it with it',
  ],
]
