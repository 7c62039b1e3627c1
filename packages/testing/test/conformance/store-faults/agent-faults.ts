import { AlliumError, type Lease, type SessionKey } from '@allium/core'
import type { SessionStore } from '@allium/store'
import type { Breaks, Fault } from './fault.ts'

/** Keeps the sessions of all agents under one name. */
const withoutAgents: Breaks = (store) => {
  const nameless = (key: SessionKey) => ({ ...key, agent: 'agent' })
  const lease = (given: Lease) => ({ ...given, key: nameless(given.key) })
  return {
    load: (key) => store.load(nameless(key)),
    find: (key, by) => store.find(nameless(key), by),
    acquire: (key, ms) => store.acquire(nameless(key), ms),
    renew: (given, ms) => store.renew(lease(given), ms),
    release: (given) => store.release(lease(given)),
    append: (given, ...more) => store.append(lease(given), ...more),
    delete: (key) => store.delete(nameless(key)),
  }
}
const moves = 'moves a session to its new name, with its runs, calls and leases'
const listsOwn = 'lists the sessions and pending calls of the requested agents, and of no other'
const keepsApart = 'gives nothing of a session to who knows its id, but asks as another agent'

/** Faults with the agents of sessions. */
export const agentFaults: readonly Fault[] = [
  ['ignores agents', withoutAgents, 'keeps agents apart whatever their names are'],
  ['finds runs of any agent', (store) => ({ find: findsAny(store) }), keepsApart],
  [
    'finds tokens of any agent',
    (store) => ({ findPendingCall: ({ agents: _, ...of }) => store.findPendingCall(of) }),
    keepsApart,
  ],
  ['lists all agents', (store) => ({ list: ({ agents: _, ...of }) => store.list(of) }), listsOwn],
  [
    'lists the calls of all agents',
    (store) => ({ pendingCalls: ({ agents: _, ...of }) => store.pendingCalls(of) }),
    listsOwn,
  ],
  [
    'takes no agents for all of them',
    (store) => ({
      list: ({ agents, ...of }) => store.list(agents?.length === 0 ? of : { ...of, ...(agents && { agents }) }),
    }),
    listsOwn,
  ],
  ['adopts nothing', () => ({ rename: async () => false }), moves],
  [
    'copies what it adopts',
    (store) => ({
      async rename(key, names, options) {
        const copies = await Promise.all(names.map((agent) => store.load({ ...key, agent })))
        const moved = await store.rename(key, names, options)
        return moved && copies.length > 0 && (await store.rename({ ...key, agent: names[0] ?? '' }, [key.agent]))
      },
    }),
    moves,
  ],
  [
    'replaces a session by the one that it adopts',
    (store) => ({
      async rename(key, names, options) {
        if (options === undefined && names.includes('helpdesk')) await store.delete(key)
        return store.rename(key, names, options)
      },
    }),
    'moves nothing where the new name has such a session, or no other name has one',
  ],
  [
    'adopts the last name',
    (store) => ({ rename: (key, names, options) => store.rename(key, names.toReversed(), options) }),
    'takes the first of several names, and leaves the others',
  ],
  [
    'adopts what is held',
    (store) => ({
      async rename(key, names) {
        for (let token = 0; token < 20; token++)
          try {
            return await store.rename(key, names, { lease: { key, token, version: 0 } })
          } catch {}
        throw new AlliumError('store.unavailable', 'It is held.')
      },
    }),
    'moves no session that another process holds',
  ],
  [
    'takes no lease with it',
    (store) => ({
      async rename(key, names, { lease } = {}) {
        if (lease !== undefined) await store.release(lease)
        return store.rename(key, names)
      },
    }),
    'moves a session with the lease of the caller, which continues under the new name',
  ],
]

function findsAny(store: SessionStore): SessionStore['find'] {
  return async (key, by) => {
    const { items } = await store.list({ tenant: key.tenant, owner: key.owner, limit: 100 })
    const keys = items.map((item) => item.key).filter(({ sessionId }) => sessionId === key.sessionId)
    const found = await Promise.all([key, ...keys].map((one) => store.find(one, by)))
    return found.find((turn) => turn !== undefined)
  }
}
