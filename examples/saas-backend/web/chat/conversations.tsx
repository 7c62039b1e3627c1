import { sentenceOf } from '../shared/problems.ts'
import type { Live } from '../shared/use-asked.ts'
import { hrefOf } from './use-open-chat.ts'
import { useTitles } from './use-titles.ts'

interface Listed {
  id: string
  version: number
  status: string
  updatedAt: number
}
export interface Listing {
  sessions: Listed[]
  cursor?: string
}

export interface ConversationsProps {
  listing: Live<Listing>
  open: string
  begin(): void
  /** Shows earlier conversations too; undefined after the first one. */
  more?: (() => void) | undefined
  /** Shows what is remembered of the user. */
  showMemory(): void
}

/** The user's conversations. On a phone it opens over the page, as a popover. */
export function Conversations({ listing: { asked, refresh }, open, begin, more, showMemory }: ConversationsProps) {
  const sessions = asked.state === 'ready' ? asked.value.sessions : []
  const titles = useTitles(sessions.map(({ id }) => id))
  const hide = () => document.getElementById(conversationsId)?.matches(':popover-open') && hidePopover()
  const choose = (act?: () => void) => () => {
    act?.()
    hide()
  }
  return (
    <nav className="chats" id={conversationsId} popover="auto" aria-label="Conversations">
      <div className="actions">
        <button type="button" className="primary" onClick={choose(begin)}>
          New conversation
        </button>
        <button type="button" className="plain close" popoverTarget={conversationsId} popoverTargetAction="hide">
          Close
        </button>
      </div>
      {asked.state === 'loading' && <p className="quiet loading">Loading…</p>}
      {asked.state !== 'loading' && asked.error && (
        <p className="error-text" role="status">
          {sentenceOf(asked.error)}{' '}
          <button type="button" className="plain" onClick={refresh}>
            Try again
          </button>
        </p>
      )}
      {asked.state === 'ready' && sessions.length === 0 && (
        <p className="quiet">No conversations yet. Ask something, and it appears here.</p>
      )}
      <ul>
        {sessions.map(({ id, status, updatedAt }) => (
          <li key={id}>
            <a href={hrefOf(id)} aria-current={id === open ? 'page' : undefined} onClick={choose()}>
              <bdi className="title">{titles.get(id) ?? '…'}</bdi>
              <time className="quiet" dateTime={new Date(updatedAt).toISOString()}>
                {dateOf(updatedAt)}
              </time>
              <span className={`badge ${status}`}>{words.get(status) ?? status}</span>
            </a>
          </li>
        ))}
      </ul>
      {more && (
        <button type="button" className="plain" onClick={more}>
          Show earlier ones
        </button>
      )}
      <button type="button" className="plain remembered" onClick={choose(showMemory)}>
        What we remember of you
      </button>
    </nav>
  )
}

export const conversationsId = 'conversations'

function hidePopover(): void {
  document.getElementById(conversationsId)?.hidePopover()
}

const words: ReadonlyMap<string, string> = new Map([
  ['completed', 'answered'],
  ['suspended', 'needs a decision'],
  ['running', 'answering'],
  ['aborted', 'stopped'],
  ['blocked', 'refused'],
])

function dateOf(time: number): string {
  const date = new Date(time)
  const isToday = date.toDateString() === new Date().toDateString()
  return isToday
    ? date.toLocaleTimeString(undefined, { timeStyle: 'short' })
    : date.toLocaleDateString(undefined, { dateStyle: 'medium' })
}
