import { AlliumError, type Lease, type Message, type SessionKey } from '@allium/core'
import type { SessionStore } from '@allium/store'
import { memoryStore } from '@allium/store'
import { describe, expect, it } from 'vitest'
import { type ManualClock, storeCases, storeConformance } from '../../src/index.ts'
import { expectToFail } from './expect-to-fail.ts'
import { agentFaults } from './store-faults/agent-faults.ts'
import { blobFaults } from './store-faults/blob-faults.ts'
import { checkpointFaults } from './store-faults/checkpoint-faults.ts'
import { eraseFaults } from './store-faults/erase-faults.ts'
import type { Breaks, Fault } from './store-faults/fault.ts'
import { historyFaults } from './store-faults/history-faults.ts'
import { listFaults } from './store-faults/list-faults.ts'
import { outboxFaults } from './store-faults/outbox-faults.ts'
import { runFaults } from './store-faults/run-faults.ts'

storeConformance({ name: 'memoryStore', makeStore: ({ clock }) => memoryStore({ clock }), describe, it })

const byKey = (nameOf: (key: SessionKey) => SessionKey): Breaks => {
  return (store) => {
    const lease = (given: Lease) => ({ ...given, key: nameOf(given.key) })
    return {
      load: (key) => store.load(nameOf(key)),
      acquire: (key, ms) => store.acquire(nameOf(key), ms),
      renew: (given, ms) => store.renew(lease(given), ms),
      release: (given) => store.release(lease(given)),
      append: (given, version, turn) => store.append(lease(given), version, turn),
      delete: (key) => store.delete(nameOf(key)),
    }
  }
}
const joined = (join: (key: SessionKey) => string) =>
  byKey((key) => ({ tenant: '', owner: '', agent: 'agent', sessionId: join(key) }))
const both = (map: (text: string) => string) =>
  byKey(({ tenant, owner, sessionId }) => ({
    tenant: map(tenant),
    owner: map(owner),
    agent: 'agent',
    sessionId: map(sessionId),
  }))
const loaded = (change: (stored: NonNullable<Awaited<ReturnType<SessionStore['load']>>>) => unknown): Breaks => {
  return (store) => ({
    load: async (key) => {
      const stored = await store.load(key)
      return stored && (change(stored) as typeof stored)
    },
  })
}
const json = (value: unknown) => JSON.parse(JSON.stringify(value))

/** Each fault that a store may have, and the case that must find it. */
const faults: Fault[] = [
  [
    'gives null for nothing',
    (store) => ({ load: async (key) => (await store.load(key)) ?? (null as never) }),
    'gives nothing for a session that was never stored',
  ],
  [
    'writes a row when it is taken',
    (store) => ({
      load: async (key) => (await store.load(key)) ?? { version: 0, owner: '', history: [], rest: { state: {} } },
    }),
    'returns nothing for a session that was locked, but not written',
  ],
  ['keeps plain JSON', loaded(json), 'gives back every kind of message, bytes and URLs as such, and the whole rest'],
  [
    'cuts texts at a NUL',
    loaded((stored) => mapTexts(stored, (text) => text.replaceAll('\0', ''))),
    'returns any text unchanged',
  ],
  [
    'has whole numbers alone for times',
    (store) => ({
      append: async (lease, version, turn) => {
        if (!Number.isInteger(turn.startedAt)) throw new Error('cannot store REAL value in INTEGER column')
        return store.append(lease, version, turn)
      },
    }),
    'takes times of a clock that counts parts of a millisecond',
  ],
  [
    'drops half characters',
    loaded((stored) => mapTexts(stored, (text) => text.replaceAll(/\p{Surrogate}/gu, ''))),
    'takes a text with half a character: as it is, or with U+FFFD in its place',
  ],
  [
    'copies __proto__ by assignment',
    loaded(pollute),
    'takes keys such as __proto__ as data, and lets them change no prototype',
  ],
  [
    'ignores `from`',
    (store) => ({
      append: async (lease, version, turn) =>
        store.append(lease, version, { ...turn, from: (await store.load(lease.key))?.history.length ?? 0 }),
    }),
    'replaces the history from the index `from` on, and the whole rest',
  ],
  [
    'takes no turn without messages',
    (store) => ({
      append: async (lease, version, turn) =>
        turn.messages.length === 0 ? undefined : store.append(lease, version, turn),
    }),
    'takes a turn without messages, and one that replaces everything',
  ],
  [
    'keeps a hundred messages',
    loaded((stored) => ({ ...stored, history: stored.history.slice(0, 100) })),
    'keeps a long session in order',
  ],
  ['never deletes', () => ({ delete: async () => {} }), 'deletes a session, and no other, and accepts its id again'],
  ['keeps what it was given', shares, 'stores a copy: changing the appended data does not change the stored data'],
  ['gives what it keeps', shares, 'returns a copy: changing the loaded data does not change the stored data'],
  [
    'copies late',
    (store) => ({
      append: async (lease, version, turn) => {
        await undefined
        return store.append(lease, version, turn)
      },
    }),
    'copies the appended data before append() returns its promise',
  ],
  [
    'shares bytes',
    (store) => {
      let loaded: ReturnType<SessionStore['load']> | undefined
      return { load: (key) => (loaded ??= store.load(key)) }
    },
    'stores its own bytes: filling the buffer again does not change them',
  ],
  [
    'tells no version in leases',
    (store) => ({
      acquire: async (key, ms) => {
        const { lease, heldUntil } = await store.acquire(key, ms)
        return lease === undefined ? { heldUntil } : { lease: { ...lease, version: 0 } }
      },
    }),
    'counts the turns, and tells the number with a session and with a lease',
  ],
  [
    'ignores versions',
    (store) => ({
      append: async (lease, _, turn) => store.append(lease, (await store.load(lease.key))?.version ?? 0, turn),
    }),
    'refuses a turn for another version, older or newer, and stores nothing of it',
  ],
  ['reads, waits and writes', racing, 'lets exactly one of two turns for one version win, however they race'],
  [
    'throws errors of its own',
    (store) => ({
      append: (...args) =>
        store.append(...args).catch((error) => {
          throw new Error(error.message)
        }),
    }),
    'refuses a turn for another version, older or newer, and stores nothing of it',
  ],
  [
    'writes a deleted session anew',
    (store) => ({
      append: async (lease, version, turn) => {
        if (version === 0 || (await store.load(lease.key)) !== undefined) return store.append(lease, version, turn)
        const { lease: own } = await store.acquire(lease.key, 1000)
        if (own !== undefined) await store.append(own, 0, { ...turn, from: 0 })
      },
    }),
    'does not bring a session back that was deleted under a run',
  ],
  ['gives leases to all', (_, clock) => leases(clock, { free: () => true }), 'rejects a locked session'],
  [
    'looks, waits and takes',
    (_, clock) => leases(clock, { slow: true }),
    'gives a session to exactly one of many concurrent callers',
  ],
  [
    'counts tokens anew',
    (_, clock) => leases(clock, { anew: true }),
    'tells each lease by a token that grows, also over an end of a lease and a delete',
  ],
  [
    'never ends a lease',
    (store) => ({ acquire: (key, ms) => store.acquire(key, ms * 1e9) }),
    'ends a lease when its time is up, and gives the session to the next',
  ],
  [
    'ignores tokens',
    (_, clock) => leases(clock, { holds: () => true }),
    'rejects a late writer whose session another process holds',
  ],
  [
    'ignores tokens of a session that is free',
    (_, clock) => leases(clock, { holds: (held, token) => held === undefined || held.token === token }),
    'refuses a late writer also after the next has come and gone',
  ],
  [
    'ignores that a lease ran out',
    (_, clock) => leases(clock, { holds: (held, token) => held?.token === token }),
    'rejects a writer with an expired lease, until it is renewed',
  ],
  ['renews nothing', () => ({ renew: async () => true }), 'prolongs a lease that is renewed, from now on'],
  [
    'renews any lease',
    (store) => ({ renew: async (lease, ms) => store.renew(lease, ms).then(() => true) }),
    'does not renew a lease that another process holds',
  ],
  ['releases nothing', () => ({ release: async () => {} }), 'frees a session at once when it is released, also twice'],
  [
    'releases for anybody',
    (_, clock) => leases(clock, { frees: () => true }),
    'does not release a session that another process holds',
  ],
  ['ignores case', both((text) => text.toLowerCase()), 'keeps sessions apart whatever their ids are'],
  ['trims names', both((text) => text.trim()), 'keeps tenants apart whatever their names are, also from none'],
  ['normalises names', both((text) => text.normalize('NFKC')), 'keeps sessions apart whatever their ids are'],
  [
    'takes names for paths',
    joined(({ tenant, owner, sessionId }) => new URL(`http://x/${tenant}/${owner}/${sessionId}`).pathname),
    'keeps sessions apart whatever their ids are',
  ],
  ['cuts names', both((text) => [...text].slice(0, 127).join('')), 'keeps sessions apart whatever their ids are'],
  [
    'joins names with a colon',
    joined(({ tenant, owner, sessionId }) => `${tenant}:${owner}:${sessionId}`),
    'keeps sessions apart whose joined tenant, owner, agent and id are equal',
  ],
  [
    'ends names at a NUL',
    both((text) => text.split('\0')[0] as string),
    'refuses a name with a NUL or half a character, or keeps it apart',
  ],
  [
    'writes names as UTF-8',
    both((text) => new TextDecoder().decode(new TextEncoder().encode(text))),
    'refuses a name with a NUL or half a character, or keeps it apart',
  ],
  [
    'ignores tenants',
    byKey((key) => ({ ...key, tenant: '' })),
    'gives nothing of a session to who knows its id, but is another tenant',
  ],
  [
    'ignores owners',
    byKey((key) => ({ ...key, owner: '' })),
    'gives nothing of a session to who knows its id, but is another owner in the tenant',
  ],
  [
    'trims names of owners',
    byKey((key) => ({ ...key, owner: key.owner.trim() })),
    'keeps owners apart whatever their names are, also from none',
  ],
  [
    'loses a turn now and then',
    (store) => ({
      append: (lease, version, turn) =>
        turn.rest.state.step === 17 ? Promise.resolve() : store.append(lease, version, turn),
    }),
    'holds for 50 tenants that do random things at once',
  ],
  [
    'mends broken names',
    (store) => ({
      list: (of) => store.list({ ...of, tenant: new TextDecoder().decode(new TextEncoder().encode(of.tenant)) }),
    }),
    'rejects a name that is not plain text in every operation, and confuses it with no other',
  ],
  [
    'stores whatever it is given',
    (store) => ({
      append: (lease, version, turn) => store.append(lease, version, { ...turn, from: Math.max(0, turn.from) }),
    }),
    'refuses a turn that it could not give back, and keeps the session as it was',
  ],
  ...agentFaults,
  ...blobFaults,
  ...checkpointFaults,
  ...runFaults,
  ...historyFaults,
  ...listFaults,
  ...eraseFaults,
  ...outboxFaults,
]

describe('the store suite finds a store that', () => {
  const cases = (breaks: Breaks) =>
    storeCases(({ clock }) => {
      const store = memoryStore({ clock })
      return { ...store, ...breaks(store, clock) }
    })

  it.each(faults)('%s', async (_, breaks, found) => {
    await expectToFail(cases(breaks), found)
  })

  it('has no case that no fault fails', () => {
    const found = faults.map(([, , name]) => name)
    expect(
      cases(() => ({}))
        .map(({ name }) => name)
        .filter((name) => !found.includes(name)),
    ).toEqual([])
  })
})

it('a skip keeps its case, with the reason; one that names no case is refused', () => {
  const name = 'stores its own bytes: filling the buffer again does not change them'
  const skipped = storeCases(() => memoryStore(), { skip: { [name]: 'why' } }).filter(({ skip }) => skip !== undefined)
  expect(skipped).toMatchObject([{ name, skip: 'why' }])
  expect(() => storeCases(() => memoryStore(), { skip: { 'keeps bits': 'why' } })).toThrow('Unknown case "keeps bits"')
})

it('a case has a store of its own, a second handle on it, and closes both', async () => {
  const log: string[] = []
  const made = new Map<SessionStore, string>()
  const [first] = storeCases(
    ({ clock }) => {
      const store = memoryStore({ clock })
      made.set(store, `store ${made.size}`)
      return store
    },
    {
      reopen: (store) => {
        const other = { ...store }
        made.set(other, `again ${made.get(store)}`)
        return other
      },
      close: (store) => log.push(`closed ${made.get(store)}`),
    },
  )
  await first?.run()
  await first?.run()
  expect(log).toEqual(['closed again store 0', 'closed store 0', 'closed again store 2', 'closed store 2'])
})

/** As a hand-written copy goes wrong with JSON that has a `__proto__`. */
function pollute(value: unknown): unknown {
  const polluted = mapTexts(value, (text) => text)
  for (const { content } of (polluted as { history: Message[] }).history)
    for (const part of typeof content === 'string' ? [] : content)
      if ('args' in part) Object.setPrototypeOf(part.args, { polluted: 1 })
  return polluted
}

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map))
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array || value instanceof URL) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, map)]))
}

/** Hands out and takes in without copies. */
function shares(store: SessionStore): Partial<SessionStore> {
  const kept = new Map<string, Awaited<ReturnType<SessionStore['load']>>>()
  const name = ({ tenant, owner, sessionId }: SessionKey) => `${tenant}\n${owner}\n${sessionId}`
  return {
    load: async (key) => kept.get(name(key)),
    async append(lease, version, turn) {
      await store.append(lease, version, turn)
      const history = kept.get(name(lease.key))?.history ?? []
      kept.set(name(lease.key), {
        version: version + 1,
        owner: lease.key.owner,
        history: [...history.slice(0, turn.from), ...turn.messages],
        rest: turn.rest,
      })
    },
  }
}

/** The version is looked at, and written a little later. */
function racing(store: SessionStore): Partial<SessionStore> {
  return {
    async append(lease, version, turn) {
      const before = (await store.load(lease.key))?.version ?? 0
      if (before !== version) throw new AlliumError('store.conflict', 'Too late.')
      await store.append(lease, before, turn).catch(() => store.append(lease, before + 1, turn))
    },
  }
}

interface Held {
  token: number
  until: number
}

/** Leases of its own in front of a store whose own leases it takes as it needs them. */
function leases(
  clock: ManualClock,
  rules: {
    free?(): boolean
    slow?: boolean
    anew?: boolean
    holds?(held: Held | undefined, token: number): boolean
    frees?(): boolean
  },
): Partial<SessionStore> {
  const held = new Map<string, Held>()
  const inner = memoryStore({ clock })
  const name = ({ tenant, owner, sessionId }: SessionKey) => `${tenant}\n${owner}\n${sessionId}`
  const now = () => clock.monotonic()
  let tokens = 0
  const right = ({ key, token }: Lease) => {
    const at = held.get(name(key))
    return rules.holds?.(at, token) ?? (at?.token === token && at.until > now())
  }
  return {
    load: (key) => inner.load(key),
    delete: (key) => inner.delete(key),
    async acquire(key, ms) {
      const until = held.get(name(key))?.until ?? 0
      if (rules.free?.() !== true && until > now()) return { heldUntil: until }
      if (rules.slow === true) await undefined
      if (rules.anew === true) tokens = 0
      held.set(name(key), { token: ++tokens, until: now() + ms })
      return { lease: { key, token: tokens, version: (await inner.load(key))?.version ?? 0 } }
    },
    async renew(lease, ms) {
      const at = held.get(name(lease.key))
      if (at?.token !== lease.token) return false
      at.until = now() + ms
      return true
    },
    async release(lease) {
      if (rules.frees?.() === true || right(lease)) held.delete(name(lease.key))
    },
    async append(lease, version, turn) {
      if (!right(lease)) throw new AlliumError('store.fenced', 'Too late.')
      const { lease: own } = await inner.acquire(lease.key, 1e12)
      if (own === undefined) throw new Error('The inner store is taken.')
      try {
        await inner.append(own, version, turn)
      } finally {
        await inner.release(own)
      }
    },
  }
}
