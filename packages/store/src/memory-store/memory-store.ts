import { type Clock, systemClock } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { SessionStore } from '../session-store.ts'
import { checkOwner } from '../store-name.ts'
import { MemoryOutbox, type OutboxOptions } from './memory-outbox.ts'
import { MemorySessions } from './memory-sessions.ts'

export interface MemoryStoreOptions extends OutboxOptions {
  clock?: Clock | undefined
}

const optionKeys: KeysOf<MemoryStoreOptions> = { clock: true, consumers: true, recordRetention: true }

/** The key under which `allium dev` gives its own store, so that sessions survive a reload of the agent. */
const standIn = Symbol.for('allium:memory-store')

/** Stores copies of sessions in this process. For tests, and for data that need not outlive the process. */
export function memoryStore(options: MemoryStoreOptions = {}): SessionStore {
  checkOptions(options, optionKeys, 'memoryStore()', 'options.invalid')
  const replacement = (globalThis as { [standIn]?: () => SessionStore })[standIn]
  if (replacement !== undefined) return replacement()
  const { clock = systemClock, ...records } = options
  const outbox = new MemoryOutbox(clock, records)
  const sessions = new MemorySessions(clock, outbox)
  return {
    load: async (key, { version } = {}) => sessions.find(key)?.loaded(version),
    head: async (key, { turnId } = {}) => sessions.find(key)?.head(turnId),
    history: async (key, { before, limit }) => sessions.find(key)?.page(before, limit) ?? [],
    find: async (key, by, { files } = {}) => sessions.find(key)?.find(by, files),
    acquire: async (key, ms) => sessions.acquire(key, ms),
    renew: async (lease, ms) => sessions.renew(lease, ms),
    release: async (lease) => sessions.release(lease),
    checkpoint: async (lease, version, turn) => sessions.checkpoint(lease, version, turn),
    append: async (lease, version, turn, { release = false } = {}) => {
      sessions.append(lease, version, turn)
      if (release) sessions.release(lease)
    },
    list: async (query) => sessions.list(query),
    pendingCalls: async (query) => sessions.pendingCalls(query),
    findPendingCall: async (query) => sessions.findPendingCall(query),
    rename: async (key, names, { lease } = {}) => sessions.rename(key, names, lease),
    delete: async (key) => sessions.delete(key),
    async erase({ tenant, owner }) {
      const scope = checkOwner({ tenant, owner })
      const deletedCount = sessions.erase(scope)
      outbox.erase(scope)
      return deletedCount
    },
    expire: async ({ olderThan }) => sessions.expire(olderThan),
    outbox,
  }
}
