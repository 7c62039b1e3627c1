import type { CallTypes } from '@allium/core'
import { useMemo, useSyncExternalStore } from 'react'
import { sharedStore } from './shared-store.ts'
import type { ChatOptions } from './store/chat-options.ts'
import type { ChatState } from './store/chat-state.ts'
import type { ChatStore } from './store/chat-store.ts'

type Actions =
  | 'send'
  | 'edit'
  | 'regenerate'
  | 'steer'
  | 'stop'
  | 'approve'
  | 'deny'
  | 'resume'
  | 'retry'
  | 'removeQueued'
  | 'setDraft'

/** The state of a session, and what a page can do with it. */
export interface ChatSession<K extends CallTypes = CallTypes> extends ChatState<K>, Pick<ChatStore<K>, Actions> {}

/**
 * Returns a session of a server with its messages, and follows its active run.
 *
 * Components that use the same client and session share one connection. Other options of later calls are ignored.
 *
 * @example
 * const session = useSession({ client, sessionId: 'chat-1' })
 */
export function useSession<K extends CallTypes, S>(options: ChatOptions<K, S>): ChatSession<K> {
  const { client, sessionId } = options
  // The other options apply when the session is first used.
  const store = useMemo(() => sharedStore(options), [client, sessionId])
  const state = useSyncExternalStore(store.subscribe, store.getSnapshot, store.getServerSnapshot)
  return useMemo(() => ({ ...state, ...actionsOf(store) }), [state, store])
}

function actionsOf<K extends CallTypes, S>(store: ChatStore<K, S>): Pick<ChatStore<K>, Actions> {
  const { send, edit, regenerate, steer, stop, approve, deny, resume, retry, removeQueued, setDraft } = store
  return { send, edit, regenerate, steer, stop, approve, deny, resume, retry, removeQueued, setDraft }
}
