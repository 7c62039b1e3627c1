import type { ContentChunk, Pipe } from '@allium/core'
import type { Finding } from '@allium/shared/detect'
import { TextWindow } from '@allium/shared/detect'
import { hasDuplicateKeys } from '../text/duplicate-keys.ts'
import { mapJson } from '../text/map-json.ts'
import { mapTexts } from '../text/map-message.ts'
import { argumentsText, type ToolInput, withArguments } from '../text/tool-input.ts'
import { unsupportedKind } from '../text/unsupported-kind.ts'
import type { TextFilter } from './text-filter.ts'

type Delta = Extract<ContentChunk, { type: 'text-delta' | 'reasoning-delta' }>

/**
 * Sends a model's stream through a filter. It sees findings across chunks and parts: text that may still become a finding delays
 * everything after it. Tool arguments are filtered when they are complete.
 *
 * @param onError receives a detector's error; if it returns, the rest passes unfiltered
 * @param onChange called with each kind of text in which something was replaced
 */
export function filterStream(
  filter: TextFilter,
  onError: (error: unknown) => unknown,
  onChange: (kind: 'text' | 'reasoning') => void = () => {},
): Pipe {
  return (chunks) => filterChunks(chunks, new StreamFilter(filter, onChange), onError)
}

/** Not a closure: a generator function that is created per call stays in memory until a full collection, with all that it can reach. */
async function* filterChunks(
  chunks: AsyncIterable<ContentChunk>,
  streamFilter: StreamFilter,
  onError: (error: unknown) => unknown,
): AsyncGenerator<ContentChunk, void> {
  let hasFailed = false
  for await (const chunk of chunks) {
    if (hasFailed) yield chunk
    else
      try {
        await streamFilter.push(chunk)
      } catch (error) {
        onError(error)
        hasFailed = true
        yield* streamFilter.flushUnfiltered(chunk)
      }
    yield* streamFilter.drain()
  }
  if (hasFailed) return
  try {
    await streamFilter.end()
  } catch (error) {
    onError(error)
    yield* streamFilter.flushUnfiltered()
  }
  yield* streamFilter.drain()
}

/** A queued chunk. A text chunk is sent as far as its text is decided. */
interface Item {
  readonly chunk: ContentChunk
  readonly lane?: TextLane
  /** Where its text starts in the text of the lane. */
  readonly start: number
  sent: number
  /** Some of its text was replaced; its metadata may contain the original. */
  isChanged?: boolean
}

function toItem(chunk: ContentChunk): Item {
  return { chunk, start: 0, sent: 0 }
}

class StreamFilter {
  readonly #filter: TextFilter
  readonly #lanes: Record<Delta['type'], TextLane>
  readonly #inputs = new Map<string, ToolInput[]>()
  readonly #items: Item[] = []
  #isReasoning = false

  constructor(filter: TextFilter, onChange: (kind: 'text' | 'reasoning') => void) {
    this.#filter = filter
    this.#lanes = {
      'text-delta': new TextLane(filter, () => onChange('text')),
      'reasoning-delta': new TextLane(filter, () => onChange('reasoning')),
    }
  }

  async push(chunk: ContentChunk): Promise<void> {
    if (this.#isReasoning && chunk.type !== 'reasoning-delta') await this.#lanes['reasoning-delta'].end()
    this.#isReasoning = chunk.type === 'reasoning-delta'
    switch (chunk.type) {
      case 'text-delta':
      case 'reasoning-delta':
        return this.#text(chunk)
      case 'tool-input-start':
      case 'tool-input-delta':
      case 'tool-input-end':
        return this.#input(chunk)
      case 'tool-result':
        return this.#enqueue({
          ...chunk,
          content: await mapTexts(chunk.content, (text) => this.#filter.filterText(text)),
        })
      case 'source':
        return this.#enqueue(await mapJson(chunk, (text) => this.#filter.filterText(text)))
      case 'file':
      case 'custom':
        return this.#enqueue(chunk)
      default:
        return unsupportedKind(chunk, 'chunk')
    }
  }

  async end(): Promise<void> {
    await this.#lanes['reasoning-delta'].end()
    await this.#lanes['text-delta'].end()
    for (const chunks of this.#inputs.values())
      for (const chunk of await this.#filterInput(chunks)) this.#enqueue(chunk)
    this.#inputs.clear()
  }

  /** Sends everything that was held back unchanged, including a chunk that was not fully consumed. */
  *flushUnfiltered(last?: ContentChunk): Generator<ContentChunk> {
    let isLastIncluded = false
    const rest = [...this.#items.splice(0), ...[...this.#inputs.values()].flat().map(toItem)]
    for (const { chunk, start, sent } of rest) {
      isLastIncluded ||= chunk === last
      yield 'delta' in chunk && sent > start ? { ...chunk, delta: chunk.delta.slice(sent - start) } : chunk
    }
    if (last !== undefined && !isLastIncluded) yield last
  }

  *drain(): Generator<ContentChunk> {
    for (let item = this.#items[0]; item !== undefined; item = this.#items[0]) {
      const { chunk, lane } = item
      if (lane === undefined) yield chunk
      else {
        const delta = chunk as Delta
        const end = item.start + delta.delta.length
        const to = Math.min(end, lane.settledLength)
        const text = lane.text(delta.delta, item.start, item.sent, to)
        if (text !== delta.delta.slice(item.sent - item.start, to - item.start)) item.isChanged = true
        item.sent = to
        // Metadata is sent with the last piece, when the whole text is decided.
        const { providerMetadata: _, ...withoutMetadata } = delta
        const remainder: Delta = to < end || item.isChanged === true ? withoutMetadata : delta
        if (text !== '') yield { ...remainder, delta: text }
        else if (remainder.providerMetadata !== undefined) yield { ...remainder, delta: '' }
        if (to < end) return
      }
      this.#items.shift()
    }
  }

  #enqueue(chunk: ContentChunk): void {
    this.#items.push(toItem(chunk))
  }

  async #text(chunk: Delta): Promise<void> {
    const lane = this.#lanes[chunk.type]
    this.#items.push({ chunk, lane, start: lane.length, sent: lane.length })
    await lane.add(chunk.delta)
  }

  async #input(chunk: ToolInput): Promise<void> {
    const chunks = this.#inputs.get(chunk.callId) ?? []
    this.#inputs.set(chunk.callId, chunks)
    chunks.push(chunk)
    if (chunk.type !== 'tool-input-end') return
    const filtered = await this.#filterInput(chunks)
    this.#inputs.delete(chunk.callId)
    for (const one of filtered) this.#enqueue(one)
  }

  /** Returns the chunks of a call: unchanged, or with one text of arguments. */
  async #filterInput(chunks: readonly ToolInput[]): Promise<readonly ToolInput[]> {
    const text = argumentsText(chunks)
    const filtered = text === '' ? '' : await this.#filterArgs(text)
    return filtered === text ? chunks : withArguments(chunks, filtered)
  }

  async #filterArgs(text: string): Promise<string> {
    let args: unknown
    try {
      args = JSON.parse(text)
    } catch {
      return this.#filter.filterText(text)
    }
    const { filterName, filterText } = this.#filter
    const filtered = await mapJson(args, filterText, filterName)
    return filtered === args && !hasDuplicateKeys(text, args) ? text : JSON.stringify(filtered)
  }
}

/** The text of one kind across all its parts, with the replacements of its findings. */
class TextLane {
  readonly #filter: TextFilter
  readonly #onChange: () => void
  readonly #window: TextWindow
  #edits: { start: number; end: number; text: string }[] = []

  constructor(filter: TextFilter, onChange: () => void) {
    this.#filter = filter
    this.#onChange = onChange
    this.#window = new TextWindow(filter.detectors)
  }

  get length(): number {
    return this.#window.length
  }
  get settledLength(): number {
    return this.#window.settledLength
  }
  async add(piece: string): Promise<void> {
    await this.#applyFindings(this.#window.add(piece))
  }
  async end(): Promise<void> {
    await this.#applyFindings(this.#window.end())
  }

  /** Returns part of a chunk's text as it is sent. A finding that spans several chunks is replaced in the first. */
  text(chunk: string, start: number, from: number, to: number): string {
    let text = ''
    let at = from
    for (const edit of this.#edits) {
      if (edit.end <= at || edit.start >= to) continue
      if (edit.start >= at) text += chunk.slice(at - start, edit.start - start) + edit.text
      at = Math.min(edit.end, to)
    }
    this.#edits = this.#edits.filter(({ end }) => end > to)
    return text + chunk.slice(at - start, to - start)
  }

  async #applyFindings(found: readonly Finding[]): Promise<void> {
    for (const finding of found) {
      const text = await this.#filter.replace(finding)
      if (text === finding.text) continue
      this.#onChange()
      this.#edits.push({ start: finding.start, end: finding.end, text })
    }
  }
}
