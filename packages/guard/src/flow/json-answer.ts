import type { ContentChunk } from '@allium/core'
import { repeatsKeys } from '../repeated-keys.ts'
import { type MayLink, withoutLinks } from './links.ts'

type Input = Extract<ContentChunk, { type: `tool-input-${string}` }>
type Text = Extract<ContentChunk, { type: 'text-delta' }>

/** An answer that is JSON: it waits until it is whole. */
export class JsonText {
  readonly #may: MayLink
  readonly #changed: (kind: string) => void
  readonly #deltas: string[] = []
  #block: Omit<Text, 'delta'> | undefined

  constructor(may: MayLink, changed: (kind: string) => void) {
    this.#may = may
    this.#changed = changed
  }

  take({ delta, ...block }: Text): void {
    this.#deltas.push(delta)
    this.#block = { ...this.#block, ...block }
  }

  *end(): Generator<ContentChunk> {
    if (this.#block === undefined) return
    const whole = this.#deltas.join('')
    const clean = withoutLinksInJson(whole, this.#may)
    const { providerMetadata, ...block } = this.#block
    if (clean === whole) yield { ...this.#block, delta: whole }
    else {
      this.#changed('text')
      yield { ...block, delta: clean }
    }
  }
}

/** Arguments of the tool that the model answers with, which are the answer's text; they wait until they are whole. */
export class AnswerArguments {
  readonly #may: MayLink
  readonly #tool: string | undefined
  readonly #waiting = new Map<string, Input[]>()

  constructor(may: MayLink, tool: string | undefined) {
    this.#may = may
    this.#tool = tool
  }

  *take(chunk: Input): Generator<ContentChunk> {
    if (chunk.type === 'tool-input-start' && chunk.name === this.#tool) this.#waiting.set(chunk.callId, [])
    const waiting = this.#waiting.get(chunk.callId)
    if (waiting === undefined) {
      yield chunk
      return
    }
    waiting.push(chunk)
    if (chunk.type !== 'tool-input-end') return
    this.#waiting.delete(chunk.callId)
    yield* this.#clean(waiting)
  }

  *end(): Generator<ContentChunk> {
    for (const chunks of this.#waiting.values()) yield* this.#clean(chunks)
    this.#waiting.clear()
  }

  *#clean(chunks: readonly Input[]): Generator<ContentChunk> {
    const whole = chunks.map((chunk) => (chunk.type === 'tool-input-delta' ? chunk.delta : '')).join('')
    const clean = withoutLinksInJson(whole, this.#may)
    let isFirst = true
    for (const chunk of chunks) {
      if (chunk.type !== 'tool-input-delta' || clean === whole) yield chunk
      else if (isFirst) {
        isFirst = false
        yield { ...chunk, delta: clean }
      }
    }
  }
}

/** Values of JSON are cleaned as whoever parses it sees them. */
export function withoutLinksInJson(whole: string, may: MayLink): string {
  // A reader may show the JSON itself as Markdown, where quotes and escapes make other code of it.
  const clean = (text: string) => withoutLinks(text, may, { code: false })
  try {
    const value: unknown = JSON.parse(whole)
    const cleaned = JSON.stringify(inTexts(value, clean))
    return cleaned === JSON.stringify(value) && !repeatsKeys(whole, value) ? whole : cleaned
  } catch {
    return inPieces(whole, clean)
  }
}

/** JSON that was cut, or that other text surrounds: each string in it as far as it goes. */
function inPieces(whole: string, clean: (text: string) => string): string {
  const pieces = whole.split(/("(?:[^"\\]|\\.)*(?:"|\\?$))/s)
  return pieces.map((piece, i) => (i % 2 === 1 ? inString(piece, clean) : clean(piece))).join('')
}

function inString(written: string, clean: (text: string) => string): string {
  const isCut = !/^"(?:[^"\\]|\\.)*"$/s.test(written)
  try {
    const value = JSON.parse(isCut ? `${written.replace(/\\(?:u[0-9a-f]{0,3})?$/i, '')}"` : written) as string
    const cleaned = clean(value)
    if (cleaned === value) return clean(written)
    const json = JSON.stringify(cleaned)
    return isCut ? json.slice(0, -1) : json
  } catch {
    return clean(written)
  }
}

/** Keys are texts too. */
function inTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (Array.isArray(value)) return value.map((one) => inTexts(one, map))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [map(key), inTexts(one, map)]))
}
