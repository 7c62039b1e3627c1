import { layerOptions, option } from '@allium/core'
import { memoryStore, type SessionStore } from '@allium/store'
import { sessionStorage } from './session-storage.ts'

export interface PersistOptions {
  /** The store of the sessions. @default one in this process */
  store?: SessionStore | undefined
  /**
   * The lease of a session during a run in milliseconds, renewed while the run lasts. After a crash other processes wait that long.
   * @default 10_000
   */
  lease?: number | undefined
  /** Whether sessions without an id are stored too. By default such a run leaves nothing in the store. @default false */
  anonymous?: boolean | undefined
  /** The layer's name. @default 'memory:persist' */
  as?: string | undefined
}

const readOptions = layerOptions<PersistOptions>('memory:persist', {
  store: option.object,
  lease: option.number({ above: 0 }),
  anonymous: option.flag,
})

/**
 * Stores each session: loads it when it opens, and appends every run when it ends, with any status. While a run lasts, no other
 * process can run the session.
 *
 * Use it for conversations that outlive a process, or that several processes serve. A session without an id leaves nothing in the
 * store, unless `anonymous` is set. State with `persist: false` is not stored.
 * A run that cannot be stored fails with the store's error. A run whose session is running elsewhere fails with `session.busy`.
 *
 * @example
 * const agent = new Agent({ model }).use(memory.persist({ store }))
 * await agent.session({ id: 'chat-1', principal: { tenantId: 'acme' } }).run('Hello again')
 */
export function persist(options: PersistOptions = {}) {
  const { store = memoryStore(), ...rest } = readOptions(options)
  return sessionStorage({ ...rest, store })
}
