import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { isBlob, toJson } from '@allium/core'

/** Bytes per piece: less than 256 kB, and divisible by 3 and by 2, so each piece converts to text without the next one. */
export const pieceSize = 262_140

/** Encodings of a text as bytes. The first one that restores exactly the same text is used. */
const forms = ['base64', 'latin1', 'utf16le'] as const
type Form = (typeof forms)[number]
const characters: Readonly<Record<Form, number>> = {
  base64: (pieceSize / 3) * 4,
  latin1: pieceSize,
  utf16le: pieceSize / 2,
}

/** The reference that a row has instead of bytes. */
export interface BlobReference {
  readonly digest: string
  /** Bytes. */
  readonly size: number
  /** Set if the value is a text: the encoding that turns the bytes into it. */
  readonly form?: Form
  /** The start of the text: the head of a data URL. */
  readonly head?: string
  /** Set if the value is a `URL` object. */
  readonly url?: true
}

/** Bytes to be stored as a blob: a private copy, or a text, which cannot change. */
export class Cut {
  readonly #bytes: Uint8Array | undefined
  readonly #text: string = ''
  readonly #isUrl: boolean
  readonly head: string = ''
  #form: Form = 'base64'
  #hashed: Promise<void> | undefined
  size = 0
  sha256 = ''

  constructor(source: Uint8Array | string | URL) {
    this.#isUrl = source instanceof URL
    if (source instanceof Uint8Array) {
      this.#bytes = new Uint8Array(source)
      return
    }
    const text = String(source)
    this.head = /^data:[^,]{0,200};base64,/.exec(text)?.[0] ?? ''
    this.#text = text.slice(this.head.length)
  }

  get pieces(): number {
    return Math.ceil(this.size / pieceSize)
  }

  /** Returns no bytes after the last piece. */
  piece(at: number): Uint8Array {
    if (this.#bytes !== undefined) return this.#bytes.subarray(at * pieceSize, (at + 1) * pieceSize)
    return Buffer.from(this.#part(at), this.#form)
  }

  /** Whether the copy still equals the source. */
  isOf(source: Uint8Array): boolean {
    return this.#bytes !== undefined && Buffer.compare(this.#bytes, source) === 0
  }

  /** Determines encoding, size and hash, once. Yields to the event loop after each piece. */
  hash(): Promise<void> {
    this.#hashed ??= this.#hash()
    return this.#hashed
  }

  async #hash(): Promise<void> {
    for (const form of forms) if (await this.#hashAs(form)) return
  }

  async #hashAs(form: Form): Promise<boolean> {
    this.#form = form
    this.size = 0
    const hash = createHash('sha256')
    for (let at = 0; ; at++) {
      const piece = this.piece(at)
      if (this.#bytes === undefined && Buffer.from(piece).toString(form) !== this.#part(at)) return false
      if (piece.length === 0) break
      // Base64 with its padding at the end of an earlier piece: that piece is short, and only the last one may be.
      if (this.size < at * pieceSize) return false
      hash.update(piece)
      this.size += piece.length
      await setImmediate()
    }
    this.sha256 = hash.digest('base64url')
    return true
  }

  reference(digest: string): BlobReference {
    const { size, head } = this
    if (this.#bytes !== undefined) return { digest, size }
    return { digest, size, form: this.#form, ...(head !== '' && { head }), ...(this.#isUrl && { url: true }) }
  }

  #part(at: number): string {
    const length = characters[this.#form]
    return this.#text.slice(at * length, (at + 1) * length)
  }
}

/** Copies that are still in memory. A run stores the same image when it begins, after each step, and when it ends. */
export type KnownCuts = WeakMap<Uint8Array, WeakRef<Cut>>

/** Serializes values, and collects the bytes that are stored as blobs. */
export class Cutter {
  readonly #known: KnownCuts
  readonly #cuts = new Map<unknown, Cut>()

  constructor(known: KnownCuts) {
    this.#known = known
  }

  /** Serializes the value now, so later changes have no effect. @throws AlliumError `state.invalid` if it cannot be serialized */
  text(value: unknown): CutText {
    const cuts: Cut[] = []
    const text = toJson(value, (inner) => {
      const cut = isBlob(inner) ? this.#cutOf(inner) : undefined
      return cut && cuts.push(cut) - 1
    })
    return { text, cuts }
  }

  get cuts(): Cut[] {
    return [...this.#cuts.values()]
  }

  /** Returns the first copy that was taken of a source. */
  #cutOf(source: Uint8Array | string | URL): Cut {
    const known = this.#cuts.get(source)
    if (known !== undefined) return known
    const cut = source instanceof Uint8Array ? this.#copyOf(source) : new Cut(source)
    this.#cuts.set(source, cut)
    return cut
  }

  #copyOf(source: Uint8Array): Cut {
    const known = this.#known.get(source)?.deref()
    if (known?.isOf(source)) return known
    const cut = new Cut(source)
    this.#known.set(source, new WeakRef(cut))
    return cut
  }
}

/** Hashes everything that a cutter collected, and names it for the store. */
export async function namedCuts(
  cutter: Cutter,
  nameOf: (sha256: string) => Promise<string>,
): Promise<{ cuts: Cuts; digestOf: (cut: Cut) => string }> {
  const names = new Map<Cut, string>()
  for (const cut of cutter.cuts) {
    await cut.hash()
    names.set(cut, await nameOf(cut.sha256))
  }
  return { cuts: new Map([...names].map(([cut, digest]) => [digest, cut])), digestOf: (cut) => names.get(cut) ?? '' }
}

/** The blobs of a row, by digest. */
export type Cuts = ReadonlyMap<string, Cut>

/** A reference in `text` is an index of `cuts`. */
export interface CutText {
  readonly text: string
  readonly cuts: readonly Cut[]
}

/** Returns the text of a row: a line with the references, if there are any, and the value. */
export function rowText({ text, cuts }: CutText, digestOf: (cut: Cut) => string): string {
  if (cuts.length === 0) return text
  return `${head}${JSON.stringify(cuts.map((cut) => cut.reference(digestOf(cut))))}}\n${text}`
}

/** `toJson` never writes this for a value, because it escapes keys that begin with `$`. */
const head = '{"$blobs":'

/** Splits the text of a row into references and value. */
export function partsOfRow(row: string): { text: string; references: readonly BlobReference[] } {
  if (!row.startsWith(head)) return { text: row, references: [] }
  const end = row.indexOf('\n')
  return { text: row.slice(end + 1), references: JSON.parse(row.slice(head.length, end - 1)) }
}
