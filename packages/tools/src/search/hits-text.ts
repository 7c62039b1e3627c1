import type { FlowLabels } from '@allium/core'
import type { SearchHit } from '@allium/store'

/** A hit with the name of the source that found it. */
export interface NamedHit extends SearchHit {
  readonly from: string
}

/** Hits as the model reads them, with the labels of all of them. */
export interface HitsText {
  /** A JSON object per line. Empty without hits. */
  readonly text: string
  readonly flow: FlowLabels
}

const charactersPerToken = 4
/** A rest of this size would only hold the beginning of a sentence. */
const shortestText = 40

/** Returns hits as lines of JSON, so that no text can end its line. It cuts the hit at which the tokens end, and drops those behind. */
export function hitsText(hits: readonly NamedHit[], tokens: number): HitsText {
  let left = tokens * charactersPerToken
  const lines: string[] = []
  for (const hit of hits) {
    const line = lineOf(hit, hit.text)
    const excess = line.length + 1 - left
    if (excess > 0 && hit.text.length - excess < shortestText) break
    lines.push(excess > 0 ? lineOf(hit, cut(hit.text, hit.text.length - excess)) : line)
    left -= line.length + 1
    if (left <= 0) break
  }
  return { text: lines.join('\n'), flow: labelsOf(hits.slice(0, lines.length)) }
}

function lineOf({ from, id, title, section, paragraphs, url, author, on }: NamedHit, text: string): string {
  return JSON.stringify({ from, id, title, section, paragraphs, url, author, on, text })
}

function cut(text: string, length: number): string {
  return `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}\u2026`
}

/** A hit without labels may have been written by anyone. */
function labelsOf(hits: readonly NamedHit[]): FlowLabels {
  const untrusted = hits.some(({ flow }) => flow === undefined || flow.untrusted === true)
  const secret = hits.some(({ flow }) => flow?.private === true)
  return { ...(untrusted && { untrusted }), ...(secret && { private: secret }) }
}
