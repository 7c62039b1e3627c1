import { type Clock, systemClock } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { MemoryParts } from '@allium/store/late'
import { type LateParts, lateParts } from '../late-parts.ts'
import type { SessionStore } from '../session-store.ts'
import { checkOwner } from '../store-name.ts'
import { ownCopy } from './copy.ts'
import { MemoryOutbox, type OutboxOptions } from './memory-outbox.ts'
import type { MemorySession } from './memory-session.ts'
import { MemorySessions } from './memory-sessions.ts'

export interface MemoryStoreOptions extends OutboxOptions {
  clock?: Clock | undefined
}

const optionKeys: KeysOf<MemoryStoreOptions> = { clock: true, consumers: true, recordRetention: true }

/** The key under which `allium dev` gives its own store, so that sessions survive a reload of the agent. */
const standIn = Symbol.for('allium:memory-store')

/** Sessions, with what is erased with them or with their owners. */
type MemoryStore = SessionStore & LateParts

/** Stores copies of sessions in this process. For tests, and for data that need not outlive the process. */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  checkOptions(options, optionKeys, 'memoryStore()', 'options.invalid')
  const replacement = (globalThis as { [standIn]?: () => MemoryStore })[standIn]
  if (replacement !== undefined) return replacement()
  const { clock = systemClock, ...records } = options
  const outbox = new MemoryOutbox(clock, records)
  const sessions = new MemorySessions(clock, outbox)
  let loading: Promise<MemoryParts> | undefined
  const parts = () => (loading ??= import('@allium/store/late').then((late) => new late.MemoryParts(clock, sessions)))
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
      // The caller may change it while the parts load.
      const own = turn.passages === undefined ? turn : ownCopy(turn)
      sessions.append(lease, version, own, own.passages && (await parts()).passages.toAdd(lease.key, own, version))
      if (release) sessions.release(lease)
    },
    list: async (query) => sessions.list(query, (await parts()).pageOf),
    pendingCalls: async (query) => sessions.pendingCalls(query, (await parts()).pageOf),
    findPendingCall: async (query) => sessions.findPendingCall(query),
    async rename(key, names, { lease } = {}) {
      const formerKey = sessions.rename(key, names, lease)
      if (formerKey !== undefined) (await loading)?.move(formerKey, key)
      return formerKey !== undefined
    },
    async delete(key) {
      const at = clock.now()
      sessions.delete(key)
      // Also loads them if there are none yet, because a run may still be active and record its turn.
      ;(await parts()).erase(key, at)
    },
    async erase({ tenant, owner }) {
      const scope = checkOwner({ tenant, owner })
      const at = clock.now()
      const erased = sessions.erase(scope)
      outbox.erase(scope)
      ;(await parts()).erase(scope, at)
      return countStored(erased)
    },
    async expire({ olderThan }) {
      const expired = sessions.expire(olderThan)
      const kept = await loading
      for (const { key } of expired) kept?.forget(key)
      return countStored(expired)
    },
    outbox,
    ...lateParts(false, parts),
  }
}

/** Returns how many sessions had content. */
function countStored(sessions: readonly MemorySession[]): number {
  return sessions.filter((session) => session.summary() !== undefined).length
}
