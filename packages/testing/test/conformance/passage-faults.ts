import type { Lease } from '@allium/core'
import { isAlliumError } from '@allium/core'
import type {
  Passage,
  PassagePlace,
  PassageScope,
  PassageStore,
  PassageTurn,
  Posting,
  SessionStore,
} from '@allium/store'
import type { PassageStoreParts } from '../../src/passages.ts'

type Fault = [fault: string, breaks: (parts: PassageStoreParts) => Broken, found: string]
/** The functions of a store that a fault replaces, or some of its sessions. */
export type Broken = Partial<PassageStore> & { sessions?: Partial<SessionStore> }

/** Finds something else. */
const found =
  (change: (postings: Posting[]) => Posting[]) =>
  ({ passages }: PassageStoreParts) => ({
    postings: async (scope: PassageScope, terms: readonly string[]) => change(await passages.postings(scope, terms)),
  })
/** Reads something else. */
const read =
  (change: (passages: Passage[]) => Passage[]) =>
  ({ passages }: PassageStoreParts): Broken => ({
    read: async (scope, places) => change(await passages.read(scope, places)),
  })
/** Asks in another scope. */
const asked =
  (change: (scope: PassageScope) => PassageScope) =>
  ({ passages }: PassageStoreParts): Broken => ({
    postings: (scope, terms) => passages.postings(change(scope), terms),
  })
/** Appends in another way. */
const appended =
  (append: (turn: PassageTurn, store: (turn: PassageTurn) => Promise<void>) => Promise<void>) =>
  ({ sessions }: PassageStoreParts): Broken => ({
    sessions: {
      append: (lease: Lease, version, turn, options) =>
        append(turn, (one) => sessions.append(lease, version, one, options)),
    },
  })
const unless = (code: 'state.invalid' | 'store.fenced') => (error: unknown) => {
  if (!isAlliumError(error, code)) throw error
}

/** Each fault that a store may have, and the case that must find it. */
export const passageFaults: readonly Fault[] = [
  [
    'finds the oldest first',
    found((postings) => postings.toReversed()),
    'finds the messages in which terms occur, by term and the last appended first',
  ],
  [
    'counts a term once',
    found((postings) => postings.map((one) => ({ ...one, count: 1 }))),
    'finds the same in a random history as a search of all its messages',
  ],
  [
    'reads in an order of its own',
    read((all) => all.toSorted((a, b) => a.position - b.position)),
    'reads passages with their texts in the given order, without those that do not exist',
  ],
  [
    'loses labels',
    read((all) => all.map((one) => ({ ...one, flow: {} }))),
    'keeps the labels of a passage, and labels one without them as untrusted',
  ],
  [
    'takes the index for the position',
    found((postings) => postings.map((one) => ({ ...one, position: one.index }))),
    'counts positions without gaps where messages have no passage',
  ],
  [
    'rounds the mean length',
    ({ passages }) => ({
      count: async (scope) => {
        const { passages: n, meanWords } = await passages.count(scope)
        return { passages: n, meanWords: Math.round(meanWords) }
      },
    }),
    'counts the passages of a scope, and their mean length',
  ],
  [
    'counts no term above 14',
    found((postings) => postings.map((one) => ({ ...one, count: Math.min(one.count, 14) }))),
    'keeps the first 2,048 terms of a passage, and counts each up to 15',
  ],
  [
    'ignores texts that are no terms',
    ({ passages }) => ({
      postings: async (scope, terms) =>
        passages.postings(
          scope,
          [...terms].filter((one) => /^[0-9a-f]{16}$/.test(one)),
        ),
    }),
    'rejects questions out of bounds, and texts that are no terms',
  ],
  [
    'makes keys for questions',
    ({ passages }) => ({ key: async (of, by) => passages.key(of, by ?? { ...of, since: 8.64e15 }) }),
    'has no key of an owner before the first writer, and keeps one for all processes',
  ],
  [
    'has one key for a tenant',
    ({ passages }) => ({ key: (of, by) => passages.key({ ...of, owner: '' }, by) }),
    'gives each owner another key, so that no term of one is found at another',
  ],
  [
    'ignores the agent',
    asked((scope) => ({ ...scope, agent: 'agent' })),
    'finds, reads and counts nothing of another agent of the owner',
  ],
  [
    'compares tenants without their case',
    asked((scope) => ({ ...scope, tenant: scope.tenant.toLowerCase() })),
    'keeps owners apart, whatever their names are',
  ],
  [
    'has statistics of all owners',
    ({ passages, sessions }) => {
      let turns = 0
      return {
        sessions: {
          append: (...args) => {
            turns++
            return sessions.append(...args)
          },
        },
        count: async (scope) => ({ ...(await passages.count(scope)), passages: turns * 2 }),
      }
    },
    'returns the same whatever other owners write',
  ],
  [
    'counts nothing for a name that it cannot have',
    ({ passages }) => ({ count: (scope) => passages.count(scope).catch(() => ({ passages: 0, meanWords: 0 })) }),
    'rejects names that a database would change',
  ],
  [
    'stores the turn without its invalid passages',
    appended(async (turn, store) =>
      store(turn).catch((error) => unless('state.invalid')(error) ?? store({ ...turn, passages: [] })),
    ),
    'rejects passages that do not belong to the turn, and stores nothing then',
  ],
  [
    'keeps the passages of a rewound session',
    appended(async (turn, store) => (turn.status === 'rewound' ? undefined : store(turn))),
    'replaces the passages from the first message of a turn on, also by a turn without any',
  ],
  [
    'accepts turns under a lost lease',
    appended((turn, store) => store(turn).catch(unless('store.fenced'))),
    'stores no passage of a turn that it rejects, and keeps those before',
  ],
  [
    'adds passages again',
    found((postings) => postings.flatMap((one) => [one, one])),
    'adds the passages of a run once, if it is appended again, with them or without',
  ],
  [
    'keeps passages in the turn',
    ({ sessions }) => ({
      sessions: {
        find: async (...args) => {
          const turn = await sessions.find(...args)
          return turn && Object.assign(turn, { passages: [] })
        },
      },
    }),
    'does not keep passages in the turn',
  ],
  [
    'finds what a fork copied',
    appended((turn, store) => store({ ...turn, copied: 0 })),
    'stores no passages of messages that the first turn of a session copied',
  ],
  [
    'makes passages of its own',
    ({ passages }) => ({ count: async (scope) => ({ ...(await passages.count(scope)), passages: 2 }) }),
    'takes turns without passages as before',
  ],
  [
    'does not delete the passages of a session',
    () => ({ sessions: { delete: async () => {} } }),
    'deletes the passages of a session with it',
  ],
  [
    'does not erase those of an owner',
    ({ sessions }) => ({
      sessions: { erase: async (of) => (of.owner === undefined ? sessions.erase(of) : 0) },
    }),
    'erases the passages and the key of an owner, or of all owners of a tenant, and no others',
  ],
  [
    'keeps those of sessions that expire',
    () => ({ sessions: { expire: async () => 2 } }),
    'deletes the passages of sessions that expire, and keeps documents',
  ],
  [
    'lets documents expire',
    ({ sessions }) => ({
      sessions: {
        expire: async (of) => {
          await sessions.delete({ tenant: 'acme', owner: '', agent: 'memory:documents/handbook', sessionId: 'returns' })
          return sessions.expire(of)
        },
      },
    }),
    'deletes the passages of sessions that expire, and keeps documents',
  ],
  [
    'erases the documents of a tenant with a person',
    ({ sessions }) => ({ sessions: { erase: ({ tenant }) => sessions.erase({ tenant }) } }),
    'erases the documents of a tenant with it, and not with one of its people',
  ],
  [
    'leaves them under the former name',
    () => ({ sessions: { rename: async () => true } }),
    'moves the passages of a session whose agent was renamed',
  ],
  [
    'keeps the key after an erasure',
    ({ passages }) => {
      const keys = new Map<string, Uint8Array>()
      return {
        key: async (of, by) => {
          const name = JSON.stringify([of.tenant, of.owner])
          const key = keys.get(name) ?? (await passages.key(of, by))
          if (key !== undefined) keys.set(name, key)
          return key
        },
      }
    },
    'gives an owner another key after an erasure',
  ],
  [
    'makes a key for a run that is over',
    ({ passages }) => ({ key: (of, by) => passages.key(of, by && { ...by, since: 8.64e15 }) }),
    'makes no key and stores no passage for a run that began before an erasure',
  ],
  [
    'stores what a turn adds after the switch',
    ({ passages, sessions }) => ({
      sessions: {
        append: async (lease, ...args) => {
          const { tenant, owner } = lease.key
          const off = (await passages.off({ tenant, owner })).person
          await passages.setOff({ tenant, owner }, undefined)
          await sessions.append(lease, ...args)
          await passages.setOff({ tenant, owner }, off)
        },
      },
    }),
    'finds and stores nothing while memory is off for the person, in every process, and keeps what is stored',
  ],
  [
    'takes the switch of a person for that of the tenant',
    ({ passages }) => ({ setOff: ({ tenant }, at) => passages.setOff({ tenant }, at) }),
    'is on for a person only if the tenant is on, too',
  ],
  [
    'keeps a key that it made while memory was off',
    ({ passages }) => ({
      setOff: async (of, at, by) => {
        if (of.owner !== undefined && at !== undefined)
          await passages.key({ ...of, owner: of.owner }, { ...of, owner: of.owner, since: 8.64e15 })
        await passages.setOff(of, at, by)
      },
    }),
    'makes no key while memory is off',
  ],
  [
    'has no key for documents then',
    ({ passages }) => ({ key: ({ tenant, owner }, by) => passages.key({ tenant, owner }, by) }),
    'leaves documents as they are while memory is off',
  ],
  [
    'switches for a request from before the erasure',
    ({ passages }) => ({ setOff: (of, at) => passages.setOff(of, at) }),
    'erases the switch with the person, and rejects a request from before',
  ],
  [
    'takes every time',
    ({ passages }) => ({ setOff: (of, at) => passages.setOff(of, at === undefined ? at : 1000) }),
    'rejects a switch of nobody, or with a time that is none',
  ],
  [
    'writes nothing again',
    () => ({ rewrite: async () => true }),
    'writes the passages of a stored turn again, if the session is as it was read',
  ],
  [
    'says that it wrote',
    ({ passages }) => ({ rewrite: async (...args) => (await passages.rewrite(...args)) || true }),
    'writes nothing again for a session that has changed or is gone, or while memory is off',
  ],
  [
    'keeps one vector for all models',
    ({ passages }) => ({
      vectors: (scope, places) => passages.vectors(scope, places, 'all'),
      putVectors: (scope, _, vectors) => passages.putVectors(scope, 'all', vectors),
    }),
    'keeps the vectors of passages by model, and returns them in the given order',
  ],
  [
    'stores vectors by place alone',
    ({ passages }) => ({
      putVectors: async (scope, model, vectors) => {
        const now = await passages.read(scope, vectors)
        await passages.putVectors(
          scope,
          model,
          now.map((one, i) => ({ ...one, vector: vectors[i]?.vector as Int8Array })),
        )
      },
    }),
    'stores no vector for a passage that is gone or was replaced meanwhile',
  ],
  [
    'keeps vectors of passages that are gone',
    keptVectors(),
    'deletes vectors with their passages: by an edit, a session, an erasure',
  ],
  [
    'loses the vectors of a renamed agent',
    ({ passages }) => ({
      vectors: async (scope, ...args) => (scope.agent === 'renamed' ? [] : passages.vectors(scope, ...args)),
    }),
    'moves the vectors of a session whose agent was renamed',
  ],
  [
    'reads vectors of all owners',
    ({ passages }) => ({
      vectors: (scope, ...args) =>
        passages.vectors({ ...scope, owner: 'ann', tenant: 'acme', agent: 'agent' }, ...args),
    }),
    'neither reads nor writes the vectors of another tenant, owner or agent',
  ],
  [
    'cuts vectors that are too long',
    ({ passages }) => ({
      putVectors: (scope, model, vectors) =>
        passages.putVectors(
          scope,
          model,
          vectors.map((one) => ({ ...one, vector: one.vector.slice(0, 8192) })),
        ),
    }),
    'rejects vectors out of bounds, and stores none then',
  ],
]

/** Keeps vectors by place, whatever happens to the passages. */
function keptVectors() {
  return ({ passages }: PassageStoreParts): Broken => {
    const kept = new Map<string, Int8Array>()
    const name = ({ sessionId, position }: PassagePlace) => `${sessionId}/${position}`
    return {
      vectors: async (_, places) =>
        places.flatMap((place) => {
          const vector = kept.get(name(place))
          return vector === undefined ? [] : { ...place, vector }
        }),
      putVectors: async (scope, model, vectors) => {
        for (const one of vectors) kept.set(name(one), one.vector)
        await passages.putVectors(scope, model, vectors)
      },
    }
  }
}
