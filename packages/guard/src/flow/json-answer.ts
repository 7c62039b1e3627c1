import type { ContentChunk } from '@allium/core'
import { hasDuplicateKeys } from '../text/duplicate-keys.ts'
import { mapStrings } from '../text/map-strings.ts'
import { argumentsText, type ToolInput, withArguments } from '../text/tool-input.ts'
import { type HostFilter, removeLinks } from './links.ts'

type Text = Extract<ContentChunk, { type: 'text-delta' }>

/** Buffers a JSON answer until it is complete. */
export class JsonText {
  readonly #isAllowedHost: HostFilter
  readonly #onChange: (kind: string) => void
  readonly #deltas: string[] = []
  #block: Omit<Text, 'delta'> | undefined

  constructor(isAllowedHost: HostFilter, onChange: (kind: string) => void) {
    this.#isAllowedHost = isAllowedHost
    this.#onChange = onChange
  }

  push({ delta, ...block }: Text): void {
    this.#deltas.push(delta)
    this.#block = { ...this.#block, ...block }
  }

  *end(): Generator<ContentChunk> {
    if (this.#block === undefined) return
    const fullText = this.#deltas.join('')
    const clean = removeLinksFromJson(fullText, this.#isAllowedHost)
    const { providerMetadata, ...block } = this.#block
    if (clean === fullText) yield { ...this.#block, delta: fullText }
    else {
      this.#onChange('text')
      yield { ...block, delta: clean }
    }
  }
}

/** Buffers the arguments of the answer tool, which are the text of the answer, until they are complete. */
export class AnswerArguments {
  readonly #isAllowedHost: HostFilter
  readonly #tool: string | undefined
  readonly #pending = new Map<string, ToolInput[]>()

  constructor(isAllowedHost: HostFilter, tool: string | undefined) {
    this.#isAllowedHost = isAllowedHost
    this.#tool = tool
  }

  *push(chunk: ToolInput): Generator<ContentChunk> {
    if (chunk.type === 'tool-input-start' && chunk.name === this.#tool) this.#pending.set(chunk.callId, [])
    const waiting = this.#pending.get(chunk.callId)
    if (waiting === undefined) {
      yield chunk
      return
    }
    waiting.push(chunk)
    if (chunk.type !== 'tool-input-end') return
    this.#pending.delete(chunk.callId)
    yield* this.#clean(waiting)
  }

  *end(): Generator<ContentChunk> {
    for (const chunks of this.#pending.values()) yield* this.#clean(chunks)
    this.#pending.clear()
  }

  #clean(chunks: readonly ToolInput[]): readonly ToolInput[] {
    const text = argumentsText(chunks)
    const clean = removeLinksFromJson(text, this.#isAllowedHost)
    return clean === text ? chunks : withArguments(chunks, clean)
  }
}

/** Cleans JSON values as a parser sees them. */
export function removeLinksFromJson(fullText: string, isAllowedHost: HostFilter): string {
  // A reader may show the JSON itself as Markdown, where quotes and escapes change what counts as code.
  const clean = (text: string) => removeLinks(text, isAllowedHost, { code: false })
  try {
    const value: unknown = JSON.parse(fullText)
    const cleaned = JSON.stringify(mapStrings(value, clean, clean))
    return cleaned === JSON.stringify(value) && !hasDuplicateKeys(fullText, value) ? fullText : cleaned
  } catch {
    return cleanPieces(fullText, clean)
  }
}

/** For JSON that is truncated or surrounded by text: cleans each string as far as it goes. */
function cleanPieces(fullText: string, clean: (text: string) => string): string {
  const pieces = fullText.split(/("(?:[^"\\]|\\.)*(?:"|\\?$))/s)
  return pieces.map((piece, i) => (i % 2 === 1 ? cleanString(piece, clean) : clean(piece))).join('')
}

function cleanString(literal: string, clean: (text: string) => string): string {
  const isTruncated = !/^"(?:[^"\\]|\\.)*"$/s.test(literal)
  try {
    const value = JSON.parse(isTruncated ? `${literal.replace(/\\(?:u[0-9a-f]{0,3})?$/i, '')}"` : literal) as string
    const cleaned = clean(value)
    if (cleaned === value) return clean(literal)
    const json = JSON.stringify(cleaned)
    return isTruncated ? json.slice(0, -1) : json
  } catch {
    return clean(literal)
  }
}
