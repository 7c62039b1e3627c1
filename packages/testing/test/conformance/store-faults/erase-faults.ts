import type { SessionStore } from '@allium/store'
import type { Fault } from './fault.ts'

const tenants = ['acme', 'globex']

/** Faults with what is to be forgotten. */
export const eraseFaults: readonly Fault[] = [
  [
    'takes an empty owner for a whole tenant',
    (store) => ({ erase: ({ tenant, owner }) => store.erase(owner ? { tenant, owner } : { tenant }) }),
    'erases all sessions of an owner or a tenant, those alone, and tells how many',
  ],
  [
    'does not count what it erases',
    (store) => ({ erase: (of) => store.erase(of).then(() => 0) }),
    'erases all sessions of an owner or a tenant, those alone, and tells how many',
  ],
  [
    'deletes what nobody runs',
    (store) => ({
      delete: async (key) => {
        if ((await store.load(key))?.open === undefined) await store.delete(key)
      },
    }),
    'does not bring a session back that was deleted while a run was open in it',
  ],
  [
    'erases what nobody runs',
    (store) => ({ erase: async () => ((await idle(store, 'acme')) ? store.erase({ tenant: 'acme' }) : 0) }),
    'erases sessions with active runs, and does not bring them back',
  ],
  [
    'forgets nothing that is old',
    () => ({ expire: async () => 0 }),
    'forgets sessions whose last turn is older than that, and tells how many',
  ],
  [
    'forgets what is new',
    (store) => ({ expire: async () => eraseAll(store) }),
    'forgets sessions whose last turn is older than that, and tells how many',
  ],
  [
    'forgets what is old and taken',
    (store, clock) => ({
      async expire({ olderThan }) {
        const { items } = await store.list({ tenant: 'acme', limit: 100 })
        const old = items.filter(
          ({ updatedAt, key }) => updatedAt < clock.now() - olderThan && key.sessionId !== 'waits',
        )
        for (const { key } of old) await store.delete(key)
        return old.length
      },
    }),
    'keeps an expired session while it is locked or has a pending call',
  ],
  [
    'forgets what is old and waits',
    (store, clock) => ({
      async expire({ olderThan }) {
        const count = await store.expire({ olderThan })
        const { items } = await store.pendingCalls({ tenant: 'acme', limit: 100 })
        if (items.length > 0 && clock.now() > olderThan)
          await store.delete({ tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'waits' })
        return count
      },
    }),
    'keeps an expired session while it is locked or has a pending call',
  ],
]

async function idle(store: SessionStore, tenant: string): Promise<boolean> {
  const { items } = await store.list({ tenant, limit: 100 })
  return items.every(({ status }) => status !== 'running')
}

async function eraseAll(store: SessionStore): Promise<number> {
  const counts = await Promise.all(tenants.map((tenant) => store.erase({ tenant })))
  return counts.reduce((sum, count) => sum + count, 0)
}
