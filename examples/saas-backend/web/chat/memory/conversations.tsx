import type { MemoryPassage } from '@allium/server/memory-client'
import { withoutPlaceholders } from '../../shared/kept.tsx'
import { Markdown } from '../markdown.tsx'
import { ConfirmedButton } from './confirmed-button.tsx'

export interface ConversationsProps {
  /** How many messages can be found. */
  count: number
  passages: readonly MemoryPassage[]
  /** Loads further messages; undefined after the last one. */
  more?: (() => void) | undefined
  remove(sessionId: string): void
}

/** The messages that the agents can find again, by conversation. A message is deleted with its conversation. */
export function Conversations({ count, passages, more, remove }: ConversationsProps) {
  const ids = [...new Set(passages.map(({ sessionId }) => sessionId))]
  const bySession = ids.map((id) => [id, passages.filter(({ sessionId }) => sessionId === id)] as const)
  return (
    <section>
      <h3>Messages that we can find again ({count})</h3>
      {count === 0 && <p className="quiet">None yet.</p>}
      <ul className="found">
        {bySession.map(([id, found]) => (
          <li key={id}>
            <details>
              <summary>
                <bdi>{firstWords(found)}</bdi> <span className="quiet">({found.length})</span>
              </summary>
              {found.map(({ index, role, text, isCut }) => (
                <div key={index} className="said">
                  <strong>{role === 'user' ? 'You' : 'Us'}</strong>
                  <Markdown text={withoutPlaceholders(isCut ? `${text}…` : text)} />
                </div>
              ))}
            </details>
            <ConfirmedButton
              label="Delete conversation"
              question="Delete it with all of its messages?"
              act={() => remove(id)}
            />
          </li>
        ))}
      </ul>
      {more && (
        <button type="button" onClick={more}>
          Show more
        </button>
      )}
    </section>
  )
}

function firstWords(found: readonly MemoryPassage[]): string {
  const { text = '' } = found.find(({ role }) => role === 'user') ?? found[0] ?? {}
  const letters = [...withoutPlaceholders(text).replace(/\s+/g, ' ')]
  return letters.length <= 60 ? letters.join('') : `${letters.slice(0, 60).join('')}…`
}
