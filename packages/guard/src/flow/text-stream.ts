import type { ContentChunk } from '@allium/core'
import { LineCleaner } from './line-cleaner.ts'
import type { HostFilter } from './links.ts'

export type Delta = Extract<ContentChunk, { type: 'text-delta' | 'reasoning-delta' }>

/** Text of earlier steps of a turn. Some readers show all of them as one. */
export interface DisplayedText {
  readonly text: string
  /** Links have been taken out of it. */
  readonly isClean: boolean
}

/** All that a turn has shown, with what a step adds. */
export function appendDisplayed(before: DisplayedText | undefined, added: DisplayedText): DisplayedText {
  if (before === undefined) return added
  return { text: before.text + added.text, isClean: before.isClean && added.isClean }
}

/**
 * Cleans deltas of text and thoughts. Each piece that leaves is inert by itself: readers show it when it comes, and the beginning of
 * a harmless link may lead elsewhere.
 */
export class TextStream {
  readonly #onChange: (kind: string) => void
  readonly #cleaners: Record<Delta['type'], LineCleaner>
  /** The block that is on its way: its kind, its id, and its metadata, which leaves at its end. */
  #block: Omit<Delta, 'delta'> | undefined
  /** Stands between this text and what the turn has shown before it. */
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

  /** Something else follows: all that is held leaves. */
  *end(): Generator<ContentChunk> {
    const block = this.#block
    if (block === undefined) return
    this.#block = undefined
    const cleaner = this.#cleaners[block.type]
    yield* this.#emit(block, cleaner.flush())
    // Of a text that was changed, it may name the original.
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

/** Whether a link, an image or a tag that began in a text may go on in what follows. A blank line ends it. */
function leavesOpen({ text, isClean }: DisplayedText): boolean {
  if (isClean) return false
  let blank = 0
  for (const { index } of text.matchAll(/\n[ \t]*\n/g)) blank = index
  return /[[<`]/.test(text.slice(blank))
}

function lastLine(text = ''): string {
  return text.slice(Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1)
}
