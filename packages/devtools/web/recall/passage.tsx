import type { RecalledItem } from '../../src/child/recall-route.ts'
import { pretty } from '../parts/format.ts'
import { whyText } from './why-text.ts'

interface PassageProps {
  item: RecalledItem
  /** Opens the conversation at the turn of the passage. */
  open(): void
}

/** A recalled message: where it comes from, its text, and why it was found. */
export function Passage({ item, open }: PassageProps) {
  const { sessionId, passage, words, near } = item
  if (passage === undefined)
    return (
      <li class="passage">
        <span class="badge left">deleted</span>
        <p class="subject">{`The message was deleted or changed since. It was in ${pretty(sessionId)}.`}</p>
      </li>
    )
  const { role, author, at, labels, text } = passage
  return (
    <li class="passage">
      <div class="row">
        <strong>{role === 'user' ? pretty(author) : 'the agent'}</strong>
        <span>
          in{' '}
          <button type="button" class="quiet" aria-label={`Open ${sessionId}`} onClick={open}>
            {pretty(sessionId)}
          </button>
        </span>
        <time class="subject" dateTime={new Date(at).toISOString()}>
          {new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })}
        </time>
        {labels.map((label) => (
          <span key={label} class={`badge ${label}`}>
            {label}
          </span>
        ))}
      </div>
      <div class="text">{pretty(text)}</div>
      <p class="subject">{whyText(words, near)}</p>
    </li>
  )
}
