import type { ContentChunk } from '@allium/core'
import { LineCleaner } from './line-cleaner.ts'
import type { HostFilter } from './links.ts'

export type Delta = Extract<ContentChunk, { type: 'text-delta' | 'reasoning-delta' }>

/** Text of earlier steps of a turn. Some readers show all of them as one text. */
export interface DisplayedText {
  readonly text: string
  /** Links were removed from it. */
  readonly isClean: boolean
}

/** Appends a step's text to the text that the turn has shown. */
export function appendDisplayed(before: DisplayedText | undefined, added: DisplayedText): DisplayedText {
  if (before === undefined) return added
  return { text: before.text + added.text, isClean: before.isClean && added.isClean }
}

/**
 * Cleans text and reasoning deltas. Each piece is inert by itself: readers show it when it arrives, and the beginning of a
 * harmless link may lead elsewhere.
 */
export class TextStream {
  readonly #onChange: (kind: string) => void
  readonly #cleaners: Record<Delta['type'], LineCleaner>
  /** The current block: its kind, its id, and its metadata, which is sent at its end. */
  #block: Omit<Delta, 'delta'> | undefined
  /** Separates this text from the turn's earlier text. */
  #separator: string

  constructor(isAllowedHost: HostFilter, before: DisplayedText | undefined, onChange: (kind: string) => void) {
    this.#onChange = onChange
    this.#separator = before !== undefined && leavesOpen(before) ? '\n\n' : ''
    this.#cleaners = {
      'text-delta': new LineCleaner(isAllowedHost, {
        code: before === undefined || !/[`[]|~~~/.test(before.text),
        before: this.#separator === '' ? lastLine(before?.text) : '',
      }),
      'reasoning-delta': new LineCleaner(isAllowedHost, { code: true }),
    }
  }

  *push(chunk: Delta): Generator<ContentChunk> {
    const { delta, providerMetadata, ...block } = chunk
    if (this.#block?.type !== block.type || this.#block.id !== block.id) yield* this.end()
    this.#block = { ...block, ...mergeMetadata(this.#block, providerMetadata) }
    yield* this.#emit(this.#block, this.#cleaners[block.type].push(delta))
  }

  /** Another kind of chunk follows, so all buffered text is sent. */
  *end(): Generator<ContentChunk> {
    const block = this.#block
    if (block === undefined) return
    this.#block = undefined
    const cleaner = this.#cleaners[block.type]
    yield* this.#emit(block, cleaner.flush())
    // The metadata of a changed text may contain the original.
    if (block.providerMetadata !== undefined && !cleaner.changed) yield { ...block, delta: '' }
  }

  *#emit({ type, id }: Omit<Delta, 'delta'>, clean: string): Generator<ContentChunk> {
    if (this.#cleaners[type].changed) this.#onChange(type === 'text-delta' ? 'text' : 'reasoning')
    if (clean === '') return
    const delta = type === 'text-delta' ? this.#separator + clean : clean
    if (type === 'text-delta') this.#separator = ''
    yield { type, delta, ...(id !== undefined && { id }) }
  }
}

function mergeMetadata(block: Omit<Delta, 'delta'> | undefined, more: Delta['providerMetadata']) {
  if (more === undefined) return block?.providerMetadata && { providerMetadata: block.providerMetadata }
  return { providerMetadata: { ...block?.providerMetadata, ...more } }
}

/** Whether a link, an image or a tag that began in a text may continue in the next one. A blank line ends it. */
function leavesOpen({ text, isClean }: DisplayedText): boolean {
  if (isClean) return false
  let blank = 0
  for (const { index } of text.matchAll(/\n[ \t]*\n/g)) blank = index
  return /[[<`]/.test(text.slice(blank))
}

function lastLine(text = ''): string {
  return text.slice(Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1)
}
