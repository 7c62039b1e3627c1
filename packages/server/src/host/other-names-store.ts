import type { SessionKey } from '@allium/core'
import type { SessionStore } from '@allium/store'

/**
 * Returns the store as the routes use it. A session that is stored under another name of its agents is moved before it is read. Lists
 * include it before it is moved. Runs are found with their files unread.
 *
 * @param names for each name under which sessions are stored, the other names
 */
export function otherNamesStore(store: SessionStore, names: ReadonlyMap<string, readonly string[]>): SessionStore {
  const otherNamesOf = (agent: string) => names.get(agent) ?? []
  const assign = async (key: SessionKey): Promise<boolean> => {
    const others = otherNamesOf(key.agent)
    return others.length > 0 && (await store.rename(key, others))
  }
  const withOtherNames = <T extends { agents?: readonly string[] }>(query: T): T =>
    query.agents === undefined
      ? query
      : { ...query, agents: query.agents.flatMap((name) => [name, ...otherNamesOf(name)]) }
  /** Reads a session, and again if it was found under another name. */
  const readAs = async <T>(key: SessionKey, read: () => Promise<T | undefined>): Promise<T | undefined> =>
    (await read()) ?? ((await assign(key)) ? read() : undefined)
  return {
    load: (key, options) => readAs(key, () => store.load(key, options)),
    head: (key, options) => readAs(key, () => store.head(key, options)),
    find: (key, by, options) => readAs(key, () => store.find(key, by, { files: 'onDemand', ...options })),
    async history(key, of) {
      const turns = await store.history(key, of)
      return turns.length === 0 && (await assign(key)) ? store.history(key, of) : turns
    },
    async acquire(key, ms) {
      await assign(key)
      return store.acquire(key, ms)
    },
    async delete(key) {
      await assign(key)
      await store.delete(key)
    },
    rename: (key, others, options) => store.rename(key, [...otherNamesOf(key.agent), ...others], options),
    list: (query) => store.list(withOtherNames(query)),
    pendingCalls: (query) => store.pendingCalls(withOtherNames(query)),
    findPendingCall: (query) => store.findPendingCall(withOtherNames(query)),
    renew: (lease, ms) => store.renew(lease, ms),
    release: (lease) => store.release(lease),
    checkpoint: (lease, version, turn) => store.checkpoint(lease, version, turn),
    append: (lease, version, turn, options) => store.append(lease, version, turn, options),
    erase: (query) => store.erase(query),
    expire: (query) => store.expire(query),
    outbox: store.outbox,
  }
}
