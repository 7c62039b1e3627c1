import type { RecalledItem } from '../../src/child/recall-route.ts'
import { count, pretty } from '../parts/format.ts'

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

/** Returns why a passage was found: `has alpaca, peru; 2 messages before it: sister`. */
export function whyText(words: RecalledItem['words'], near: RecalledItem['near']): string {
  const own = words.length === 0 ? [] : [`has ${words.join(', ')}`]
  const around = new Map<number, string[]>()
  for (const { word, distance } of near) around.set(distance, [...(around.get(distance) ?? []), word])
  const places = [...around].map(([distance, words]) => `${placeText(distance)}: ${words.join(', ')}`)
  return [...own, ...places].join('; ') || 'None of the words is in it or near it now.'
}

function placeText(distance: number): string {
  return `${count(Math.abs(distance), 'message')} ${distance < 0 ? 'before' : 'after'} it`
}
