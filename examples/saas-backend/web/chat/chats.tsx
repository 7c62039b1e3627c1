import { useEffect, useState } from 'react'
import type { Me } from '../shared/api.ts'
import { Account } from '../shared/sign-in.tsx'
import { useAsked } from '../shared/use-asked.ts'
import { Loaded } from './loaded.tsx'

interface Listed {
  id: string
  status: string
  updatedAt: number
}

/** All conversations of who is signed in; the open one is named by the address. */
export function Chats({ me }: { me: Me }) {
  const { id, isNew, begin } = useOpenChat()
  const [list, reload] = useAsked<{ sessions: Listed[] }>('/api/sessions')
  const sessions = list.state === 'ready' ? list.value.sessions : []
  return (
    <div className="frame">
      <header className="top">
        <a className="brand" href="/">
          Support
        </a>
        {me.administers.length > 0 && <a href="/admin">Admin</a>}
        <Account me={me} />
      </header>
      <nav className="chats" aria-label="Conversations">
        <button type="button" className="primary" onClick={begin}>
          New conversation
        </button>
        {list.state === 'failed' && (
          <p className="error-text" role="alert">
            {list.error.message}
          </p>
        )}
        {list.state === 'ready' && sessions.length === 0 && <p className="quiet">Nothing yet.</p>}
        <ul>
          {sessions.map((one) => (
            <li key={one.id}>
              <a href={`#${one.id}`} aria-current={one.id === id ? 'page' : undefined}>
                <span>{dateOf(one.updatedAt)}</span>
                <span className={`badge ${one.status}`}>{words[one.status] ?? one.status}</span>
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <main className="open-chat">
        <Loaded key={id} id={id} isNew={isNew} me={me} changed={reload} />
      </main>
    </div>
  )
}

const words: Record<string, string> = {
  completed: 'answered',
  suspended: 'waits for you',
  running: 'answering',
  aborted: 'stopped',
}

/** The conversation that the address names, or a new one. */
function useOpenChat() {
  const [{ id, isNew }, set] = useState(openChat)
  useEffect(() => {
    if (isNew) history.replaceState(null, '', `#${id}`)
    const follow = () => set(openChat())
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [id, isNew])
  return { id, isNew, begin: () => set({ id: crypto.randomUUID(), isNew: true }) }
}

function openChat() {
  const id = location.hash.slice(1)
  return id === '' ? { id: crypto.randomUUID(), isNew: true } : { id, isNew: false }
}

function dateOf(time: number): string {
  return new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })
}
