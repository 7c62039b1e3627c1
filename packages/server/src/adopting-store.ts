import type { SessionKey, SessionStore } from '@allium/core'

/**
 * The store as the routes use it: a session that is kept under another name of its agents is moved before it is read, and listed
 * before that.
 *
 * @param names for each name under which sessions are kept, the other ones
 */
export function adoptingStore(store: SessionStore, names: ReadonlyMap<string, readonly string[]>): SessionStore {
  const othersOf = (agent: string) => names.get(agent) ?? []
  const move = async (key: SessionKey): Promise<boolean> => {
    const others = othersOf(key.agent)
    return others.length > 0 && (await store.adopt(key, others))
  }
  const among = <T extends { agents?: readonly string[] }>(of: T): T =>
    of.agents === undefined ? of : { ...of, agents: of.agents.flatMap((name) => [name, ...othersOf(name)]) }
  return {
    load: async (key, options) =>
      (await store.load(key, options)) ?? ((await move(key)) ? store.load(key, options) : undefined),
    find: async (key, by) => (await store.find(key, by)) ?? ((await move(key)) ? store.find(key, by) : undefined),
    async acquire(key, ms) {
      await move(key)
      return store.acquire(key, ms)
    },
    async delete(key) {
      await move(key)
      await store.delete(key)
    },
    adopt: (key, others, options) => store.adopt(key, [...othersOf(key.agent), ...others], options),
    list: (of) => store.list(among(of)),
    waiting: (of) => store.waiting(among(of)),
    findWaiting: (of) => store.findWaiting(among(of)),
    renew: (lease, ms) => store.renew(lease, ms),
    release: (lease) => store.release(lease),
    checkpoint: (lease, version, turn) => store.checkpoint(lease, version, turn),
    append: (lease, version, turn, options) => store.append(lease, version, turn, options),
    erase: (of) => store.erase(of),
    expire: (of) => store.expire(of),
    outbox: store.outbox,
  }
}
