import type { ContentChunk } from '../model/chunk.ts'
import { Assembly } from './assembly.ts'

/**
 * The output of a layer. The assembly is built only when it is read. Most layers do not change the text, so until then
 * only the pieces are stored.
 */
export class Forwarded {
  /** Whether the layer may have changed something. */
  changed = false
  readonly #who: string
  #pieces: string[] | undefined
  /** The block id of the pieces. */
  #id: string | undefined
  #assembly: Assembly | undefined

  constructor(who: string) {
    this.#who = who
  }

  add(chunk: ContentChunk): void {
    if (this.#assembly === undefined && chunk.type === 'text-delta' && chunk.providerMetadata === undefined) {
      if (this.#pieces === undefined) {
        this.#pieces = [chunk.delta]
        this.#id = chunk.id
        return
      }
      if (this.#id === chunk.id) {
        this.#pieces.push(chunk.delta)
        return
      }
    }
    this.assembly.add(chunk)
  }

  get assembly(): Assembly {
    if (this.#assembly === undefined) {
      this.#assembly = new Assembly(this.#who)
      if (this.#pieces !== undefined) this.#assembly.add(textOf(this.#pieces, this.#id))
      this.#pieces = undefined
    }
    return this.#assembly
  }

  /** Throws if a tool input has not ended. */
  close(): void {
    this.#assembly?.close()
  }
}

function textOf(pieces: readonly string[], id: string | undefined): ContentChunk {
  const delta = pieces.join('')
  return id === undefined ? { type: 'text-delta', delta } : { type: 'text-delta', delta, id }
}
