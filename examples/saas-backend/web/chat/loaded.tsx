import type { UIMessage } from 'ai'
import { useCallback, useEffect, useState } from 'react'
import { ask, type Me, type Refused } from '../shared/api.ts'
import { Chat } from './chat.tsx'

type Stored = { state: 'loading' } | { state: 'failed'; error: Refused } | { state: 'ready'; messages: UIMessage[] }

export interface LoadedProps {
  id: string
  /** Nobody has said anything yet. */
  isNew: boolean
  me: Me
  changed(): void
}

/** A conversation as the server has it, and again after the connection was lost: what goes on is followed from its beginning. */
export function Loaded({ id, isNew, me, changed }: LoadedProps) {
  const [stored, set] = useState<Stored>(isNew ? { state: 'ready', messages: [] } : { state: 'loading' })
  const [tries, setTries] = useState(0)
  const again = useCallback(() => setTries((count) => count + 1), [])
  useEffect(() => {
    if (isNew && tries === 0) return
    let current = true
    const taken = (next: Stored) => current && set(next)
    ask<{ messages: UIMessage[] }>(`/api/sessions/${encodeURIComponent(id)}/messages`).then(
      ({ messages }) => taken({ state: 'ready', messages }),
      // Nobody has said anything yet.
      (error: Refused) => taken(error.status === 404 ? { state: 'ready', messages: [] } : { state: 'failed', error }),
    )
    return () => {
      current = false
    }
  }, [id, isNew, tries])
  if (stored.state === 'loading')
    return (
      <p className="page-state" aria-busy="true">
        Loading…
      </p>
    )
  if (stored.state === 'ready')
    return <Chat key={tries} id={id} me={me} stored={stored.messages} changed={changed} reload={again} />
  return (
    <div className="page-state" role="alert">
      <p>{stored.error.message}</p>
      <button type="button" onClick={again}>
        Try again
      </button>
    </div>
  )
}
