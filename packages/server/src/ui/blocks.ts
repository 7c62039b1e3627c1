import type { SourceChunk } from '@allium/core'
import type { UiChunk } from '../sessions/ui-messages.ts'
import { sourcePart } from './sources.ts'

type Citation = NonNullable<SourceChunk['cites']>

/** The open block of text or reasoning. A delta of another block closes it. */
export class Blocks {
  #count = 0
  #open: { kind: 'text' | 'reasoning'; blockId: string | undefined; id: string; citations: object[] } | undefined;

  *delta(kind: 'text' | 'reasoning', blockId: string | undefined, delta: string): Generator<UiChunk> {
    if (this.#open?.kind !== kind || this.#open.blockId !== blockId) {
      yield* this.close()
      this.#open = { kind, blockId, id: `${kind}-${++this.#count}`, citations: [] }
      yield { type: `${kind}-start`, id: this.#open.id }
    }
    yield { type: `${kind}-delta`, id: this.#open.id, delta }
  }

  *close(): Generator<UiChunk> {
    if (this.#open === undefined) return
    const { kind, id, citations } = this.#open
    this.#open = undefined
    yield { type: `${kind}-end`, id, ...(citations.length > 0 && { citations }) }
  }

  /** Adds a citation to the open text block. Returns false if it belongs to another block. */
  cite(source: SourceChunk & { id: string }, { textId, ...passage }: Citation): boolean {
    if (this.#open?.kind !== 'text' || this.#open.blockId !== textId) return false
    this.#open.citations.push({ source: sourcePart(source), ...passage })
    return true
  }

  /** Drops the open block after a reset. */
  discard(): void {
    this.#open = undefined
  }
}
