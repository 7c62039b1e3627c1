import type { FlowLabels } from '@allium/core'
import type { Passage, SearchHit } from '@allium/store'
import { withoutNumbers } from './placeholders.ts'

/** Passages as the model reads them, with the labels of all of them. */
export interface RecalledText {
  /** A JSON object per line. Empty without passages. */
  readonly text: string
  readonly flow: FlowLabels
  /** The passages in the text, in its order. */
  readonly passages: readonly Passage[]
}

const charactersPerToken = 4
/** A rest of this size would only hold the beginning of a sentence. */
const shortestText = 40

/**
 * Returns passages as lines of JSON, so that no text can end its line. It cuts the passage at which the tokens end, and drops those behind.
 *
 * @param user who asks: text by another user is untrusted
 */
export function recalledText(
  passages: readonly Passage[],
  { tokens, user }: { tokens: number; user: string },
): RecalledText {
  let left = tokens * charactersPerToken
  const lines: string[] = []
  for (const passage of passages) {
    const text = withoutNumbers(passage.text)
    const line = lineOf(passage, user, text)
    const excess = line.length + 1 - left
    if (excess > 0 && text.length - excess < shortestText) break
    // A line of many escapes may still be longer than the rest.
    lines.push(excess > 0 ? lineOf(passage, user, cut(text, text.length - excess)) : line)
    left -= line.length + 1
    if (left <= 0) break
  }
  const shown = passages.slice(0, lines.length)
  return { text: lines.join('\n'), flow: labelsOf(shown, user), passages: shown }
}

function lineOf(passage: Passage, user: string, text: string): string {
  return JSON.stringify({ on: dayOf(passage), from: authorOf(passage, user), text })
}

/** Returns a passage as `tools.search` hands it over. */
export function hitOf(passage: Passage, user: string): SearchHit {
  const on = dayOf(passage)
  const text = withoutNumbers(passage.text)
  return { text, title: `Conversation on ${on}`, author: authorOf(passage, user), on, flow: labelsOf([passage], user) }
}

function dayOf({ at }: Passage): string {
  return new Date(at).toISOString().slice(0, 10)
}

function authorOf({ role, author }: Passage, user: string): string {
  return author === user ? role : `another ${role === 'user' ? 'user' : "user's assistant"}`
}

function cut(text: string, length: number): string {
  return `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}\u2026`
}

export function labelsOf(passages: readonly Passage[], user: string): FlowLabels {
  const untrusted = passages.some(({ flow, author }) => flow.untrusted === true || author !== user)
  const secret = passages.some(({ flow }) => flow.private === true)
  return { ...(untrusted && { untrusted }), ...(secret && { private: secret }) }
}
