import type { CallTypes } from '@allium/core'
import type { ChatOptions } from './store/chat-options.ts'
import { ChatStore } from './store/chat-store.ts'

/** Clients are compared by identity, so create a client once, outside of components. */
const stores = new WeakMap<object, Map<string, unknown>>()

/** Returns the one store of a session in this page, so that several components show the same session. */
export function sharedStore<K extends CallTypes, S>(options: ChatOptions<K, S>): ChatStore<K, S> {
  // A server renders for many users, and must not share their sessions.
  if (typeof document === 'undefined') return new ChatStore(options)
  const { client, sessionId } = options
  const ofClient = stores.get(client) ?? new Map<string, unknown>()
  stores.set(client, ofClient)
  const store = (ofClient.get(sessionId) as ChatStore<K, S> | undefined) ?? new ChatStore(options)
  ofClient.set(sessionId, store)
  return store
}
