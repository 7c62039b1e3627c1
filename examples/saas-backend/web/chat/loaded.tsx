import { useCallback, useEffect, useState } from 'react'
import type { Refused } from '../shared/api.ts'
import { Failed, Loading } from '../shared/states.tsx'
import { Chat, type ChatProps } from './chat.tsx'
import { emptyHistory, type History, loadHistory } from './history.ts'

type Stored = { state: 'loading' } | { state: 'failed'; error: Refused } | { state: 'ready'; history: History }

export interface LoadedProps extends Omit<ChatProps, 'stored'> {
  /** The conversation has no messages yet. */
  isNew: boolean
}

/** Loads a conversation from the server. */
export function Loaded({ isNew, ...chat }: LoadedProps) {
  const { id } = chat
  const [stored, set] = useState<Stored>(isNew ? { state: 'ready', history: emptyHistory } : { state: 'loading' })
  const load = useCallback(
    () =>
      loadHistory(id).then(
        (history) => set({ state: 'ready', history }),
        (error) => set({ state: 'failed', error }),
      ),
    [id],
  )
  useEffect(() => {
    if (!isNew) void load()
  }, [isNew, load])
  if (stored.state === 'loading') return <Loading />
  if (stored.state === 'failed') return <Failed error={stored.error} again={load} />
  return <Chat {...chat} stored={stored.history} />
}
