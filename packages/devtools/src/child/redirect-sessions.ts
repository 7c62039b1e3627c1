import type { PassageStore, SessionStore } from '@allium/store'
import { isMemory } from '@allium/store/passages'

/** The functions of a session store that change nothing. */
type SessionReads = Pick<SessionStore, 'load' | 'head' | 'history' | 'find' | 'list'>

const names: Record<Exclude<keyof SessionStore, 'outbox'>, true> = {
  load: true,
  find: true,
  head: true,
  history: true,
  list: true,
  acquire: true,
  renew: true,
  release: true,
  checkpoint: true,
  append: true,
  pendingCalls: true,
  findPendingCall: true,
  rename: true,
  delete: true,
  erase: true,
  expire: true,
}

const passageNames: Record<Exclude<keyof PassageStore, 'sealed'>, true> = {
  key: true,
  postings: true,
  read: true,
  count: true,
  vectors: true,
  putVectors: true,
  off: true,
  setOff: true,
  rewrite: true,
}

/**
 * Replaces all functions of a session store with those of another one. The layers of the agent hold the store already, so it is changed in
 * place. Documents stay in it: they are no conversations. Returns its own functions for reading.
 */
export function redirectSessions(from: SessionStore, to: SessionStore): SessionReads {
  const reads = {
    load: from.load.bind(from),
    head: from.head.bind(from),
    history: from.history.bind(from),
    find: from.find.bind(from),
    list: from.list.bind(from),
  }
  replace(from, to, Object.keys(names))
  Object.defineProperty(from, 'outbox', { value: to.outbox, configurable: true, writable: true })
  return reads
}

/** Does the same for the passages of conversations, so that recall finds those of the redirected sessions. */
export function redirectPassages(from: PassageStore, to: PassageStore): void {
  replace(from, to, Object.keys(passageNames))
}

function replace(from: object, to: object, functions: readonly string[]): void {
  for (const name of functions) {
    const [own, other] = [from, to].map((store) => {
      const fn = (store as Record<string, (...args: unknown[]) => unknown>)[name]
      return (args: unknown[]) => fn?.apply(store, args)
    }) as [(args: unknown[]) => unknown, (args: unknown[]) => unknown]
    const value = (...args: unknown[]) => (isOfDocument(args[0]) ? own : other)(args)
    Object.defineProperty(from, name, { value, configurable: true, writable: true })
  }
}

/** Whether the first argument, a key, a lease or a query, is of documents. */
function isOfDocument(of: unknown): boolean {
  const { agent, agents, key } = (of ?? {}) as { agent?: string; agents?: string[]; key?: { agent?: string } }
  return !isMemory(agent ?? key?.agent ?? agents?.[0])
}
