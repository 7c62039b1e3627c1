import type { ContentChunk, Pipe } from '@allium/core'
import { type MayLink, withoutLinks } from './links.ts'

type Delta = Extract<ContentChunk, { type: 'text-delta' | 'reasoning-delta' }>
type Input = Extract<ContentChunk, { type: `tool-input-${string}` }>

/**
 * Takes links and images out of a model's stream: text and thoughts leave paragraph by paragraph, since nothing that leads
 * elsewhere reaches over a blank line. Arguments of calls pass as they are, but for those of the tool that the model answers with.
 *
 * @param changed told of each kind of text in which something was taken out
 */
export function unlinked(may: MayLink, { answerTool, isJson }: Form, changed: (kind: string) => void): Pipe {
  return async function* (chunks) {
    const text = new Paragraphs(may, isJson, changed)
    const answers = new Answers(may, answerTool)
    for await (const chunk of chunks) {
      if (isDelta(chunk)) {
        yield* text.take(chunk)
        continue
      }
      yield* text.end()
      if (isInput(chunk)) yield* answers.take(chunk)
      else yield* elsewhere(chunk, may)
    }
    yield* text.end()
    yield* answers.end()
  }
}

/** How the answer is given: in the arguments of a tool, as JSON. */
export interface Form {
  readonly answerTool: string | undefined
  readonly isJson: boolean
}

/** Deltas of one kind until their paragraph is whole. */
class Paragraphs {
  readonly #may: MayLink
  /** The text is whole, or no JSON. */
  readonly #isJson: boolean
  readonly #changed: (kind: string) => void
  #held: Delta[] = []
  #text = ''
  /** Kinds whose text has left in the middle of a line. */
  readonly #open = new Set<Delta['type']>()

  constructor(may: MayLink, isJson: boolean, changed: (kind: string) => void) {
    this.#may = may
    this.#isJson = isJson
    this.#changed = changed
  }

  *take(chunk: Delta): Generator<ContentChunk> {
    if (this.#held.length > 0 && this.#held[0]?.type !== chunk.type) yield* this.end()
    // What stands apart in the stream is joined in the answer's text: nothing may begin there and end here.
    if (this.#held.length === 0 && this.#open.delete(chunk.type)) yield { type: chunk.type, delta: '\n\n' }
    this.#held.push(chunk)
    this.#text += chunk.delta
    const at = !this.#isJson && chunk.delta.includes('\n') ? lastBreak(this.#text) : 0
    if (at > 0) yield* this.#leave(at)
  }

  *end(): Generator<ContentChunk> {
    const [first] = this.#held
    if (first === undefined) return
    if (!this.#text.slice(this.#text.trimEnd().length).includes('\n')) this.#open.add(first.type)
    yield* this.#leave(this.#text.length)
  }

  /** Lets go of so much of the text. */
  *#leave(length: number): Generator<ContentChunk> {
    const whole = this.#text.slice(0, length)
    const clean = (this.#isJson ? withoutLinksInJson : withoutLinks)(whole, this.#may)
    const [first] = this.#held as [Delta]
    if (clean !== whole) {
      this.#changed(first.type === 'text-delta' ? 'text' : 'reasoning')
      yield { type: first.type, delta: clean, ...(first.id !== undefined && { id: first.id }) }
    }
    let left = length
    const kept: Delta[] = []
    for (const chunk of this.#held) {
      const part = chunk.delta.slice(0, left)
      left -= part.length
      const isWhole = part.length === chunk.delta.length
      if (clean === whole && (part !== '' || isWhole)) yield isWhole ? chunk : without(chunk, part)
      if (!isWhole) kept.push({ ...chunk, delta: chunk.delta.slice(part.length) })
    }
    this.#held = kept
    this.#text = this.#text.slice(length)
  }
}

/** Metadata goes with the last piece. */
function without({ providerMetadata: _, ...chunk }: Delta, delta: string): Delta {
  return { ...chunk, delta }
}

/** Behind the last blank line that is within no tag. */
function lastBreak(text: string): number {
  let at = 0
  for (const { index, 0: lines } of text.matchAll(/\n[ \t]*\n/g)) at = index + lines.length
  const open = text.lastIndexOf('<', at - 1)
  if (at === 0 || open < 0 || !/[a-z!/?]/i.test(text.charAt(open + 1))) return at
  const end = text.indexOf('>', open)
  return end < 0 || end >= at ? 0 : at
}

/** Arguments of the tool that the model answers with, which are the answer's text; they wait until they are whole. */
class Answers {
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

/** JSON is read: what is written as an escape there is none any more to who reads the values. */
function withoutLinksInJson(whole: string, may: MayLink): string {
  try {
    const value: unknown = JSON.parse(whole)
    const clean = JSON.stringify(inTexts(value, (text) => withoutLinks(text, may)))
    return clean === JSON.stringify(value) ? whole : clean
  } catch {
    return withoutLinks(whole, may)
  }
}

/** Keys are texts too. */
function inTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (Array.isArray(value)) return value.map((one) => inTexts(one, map))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [map(key), inTexts(one, map)]))
}

/** Files by address, and sources, lead elsewhere as links do. */
function* elsewhere(chunk: ContentChunk, may: MayLink): Generator<ContentChunk> {
  if (chunk.type === 'source') {
    const { url, title, ...rest } = chunk
    const isSafe = url !== undefined && withoutLinks(url, may) === url
    yield { ...rest, ...(isSafe && { url }), ...(title !== undefined && { title: withoutLinks(title, may) }) }
    return
  }
  if (chunk.type === 'file' && isAddress(chunk.data) && withoutLinks(String(chunk.data), may) !== String(chunk.data))
    return
  yield chunk
}

function isAddress(data: Uint8Array | URL | string): boolean {
  return data instanceof URL || (typeof data === 'string' && /^\s*[a-z][a-z0-9+.-]*:/i.test(data))
}

function isDelta(chunk: ContentChunk): chunk is Delta {
  return chunk.type === 'text-delta' || chunk.type === 'reasoning-delta'
}
function isInput(chunk: ContentChunk): chunk is Input {
  return chunk.type.startsWith('tool-input-')
}
