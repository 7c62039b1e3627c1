import { useCallback, useEffect, useState } from 'preact/hooks'
import type { Identity } from '../store/api.ts'
import { type Conversation, identityOf, loadConversation, type SessionItem } from '../store/sessions.ts'
import { live, trace } from '../store/store.ts'
import { sessionKey, type Turn } from '../store/trace.ts'

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
  const key = item === undefined ? '' : sessionKey({ ...item, sessionId: item.id })
  const turns = item === undefined ? [] : trace.ofSession(key)
  const version = `${turns.length} ${turns.map(({ status }) => status[0]).join('')} ${live.status.at}`

  const load = useCallback(async () => {
    if (item === undefined) return
    const conversation = await loadConversation(item, identityOf(item, trace.ofSession(key), current)).catch(
      () => empty,
    )
    setLoaded({ key, conversation })
  }, [key])
  useEffect(() => void load(), [load, version])

  const loadEarlier = async () => {
    const { before, turns } = loaded.conversation
    if (item === undefined || before === undefined) return
    const earlier = await loadConversation(item, identityOf(item, trace.ofSession(key), current), before)
    setLoaded({
      key,
      conversation: { ...loaded.conversation, before: earlier.before as number, turns: [...earlier.turns, ...turns] },
    })
  }
  return { conversation: loaded.key === key ? loaded.conversation : empty, turns, loadEarlier, reload: load }
}
