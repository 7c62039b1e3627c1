import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Identity } from '../store/api.ts'
import { type Conversation, identityOf, itemKey, loadConversation, type SessionItem } from '../store/sessions.ts'
import { live, liveTurns } from '../store/store.ts'
import type { Turn } from '../store/trace.ts'

const empty: Conversation = { turns: [], pending: [], running: false }

/** The stored turns of a session, and its live turns. */
export interface LoadedConversation {
  conversation: Conversation
  turns: readonly Turn[]
  loadEarlier(): Promise<void>
  reload(): Promise<void>
}

/** Loads the stored turns of a session, and loads them again when a turn of it begins or ends. */
export function useConversation(item: SessionItem | undefined, current: Identity): LoadedConversation {
  const [loaded, setLoaded] = useState<{ key: string; conversation: Conversation }>({ key: '', conversation: empty })
  const key = item === undefined ? '' : itemKey(item)
  const turns = item === undefined ? [] : liveTurns(item)
  // Each look at a session of the agent's own store is audited, so it is loaded once.
  const version =
    item?.isReadOnly === true
      ? ''
      : `${turns.length} ${turns.map(({ status }) => status[0]).join('')} ${live.status.at}`

  const shown = useRef({ item, key, current })
  shown.current = { item, key, current }
  /** Loads the session that is shown when it is called. Drops the answer if another session is shown by then. */
  const load = useCallback(async () => {
    const { item, key, current } = shown.current
    // The principal is known as soon as the agent has loaded.
    if (item === undefined || live.status.agent === undefined) return
    const conversation = await loadConversation(item, identityOf(item, liveTurns(item), current)).catch(
      (error: Error): Conversation => (item.isReadOnly === true ? { ...empty, fault: error.message } : empty),
    )
    if (shown.current.key === key) setLoaded({ key, conversation })
  }, [])
  useEffect(() => void load(), [key, version])

  const loadEarlier = async () => {
    const { before, turns } = loaded.conversation
    if (item === undefined || before === undefined) return
    const earlier = await loadConversation(item, identityOf(item, liveTurns(item), current), before)
    setLoaded({
      key,
      conversation: { ...loaded.conversation, before: earlier.before as number, turns: [...earlier.turns, ...turns] },
    })
  }
  return { conversation: loaded.key === key ? loaded.conversation : empty, turns, loadEarlier, reload: load }
}
