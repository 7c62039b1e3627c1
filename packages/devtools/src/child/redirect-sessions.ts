import type { SessionStore } from '@allium/store'

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

/**
 * Replaces all functions of a session store with those of another one. The layers of the agent hold the store already, so it is changed in
 * place. Returns its own functions for reading.
 */
export function redirectSessions(from: SessionStore, to: SessionStore): SessionReads {
  const reads = {
    load: from.load.bind(from),
    head: from.head.bind(from),
    history: from.history.bind(from),
    find: from.find.bind(from),
    list: from.list.bind(from),
  }
  for (const name of Object.keys(names) as (keyof typeof names)[])
    Object.defineProperty(from, name, { value: to[name].bind(to), configurable: true, writable: true })
  Object.defineProperty(from, 'outbox', { value: to.outbox, configurable: true, writable: true })
  return reads
}
