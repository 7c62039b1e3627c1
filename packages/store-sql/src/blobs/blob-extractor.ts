import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { toJson } from '@allium/core'
import { isBlob } from '@allium/store'
import { isJson } from '../plain-text.ts'

/** Bytes per piece: less than 256 kB, and divisible by 3 and by 2, so each piece converts to text without the next one. */
export const pieceSize = 262_140

/** Encodings of a text as bytes. The first one that restores exactly the same text is used. */
const encodings = ['base64', 'latin1', 'utf16le'] as const
type BlobEncoding = (typeof encodings)[number]
const charactersPerPiece: Readonly<Record<BlobEncoding, number>> = {
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
  readonly form?: BlobEncoding
  /** The start of the text: the head of a data URL. */
  readonly head?: string
  /** Set if the value is a `URL` object. */
  readonly url?: true
}

/** Bytes to be stored as a blob: a private copy, or a text, which cannot change. */
export class BlobSource {
  readonly #bytes: Uint8Array | undefined
  readonly #text: string = ''
  readonly #isUrl: boolean
  readonly head: string = ''
  #encoding: BlobEncoding = 'base64'
  #hashing: Promise<void> | undefined
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
  piece(index: number): Uint8Array {
    if (this.#bytes !== undefined) return this.#bytes.subarray(index * pieceSize, (index + 1) * pieceSize)
    return Buffer.from(this.#part(index), this.#encoding)
  }

  /** Whether the copy still equals the source. */
  equals(source: Uint8Array): boolean {
    return this.#bytes !== undefined && Buffer.compare(this.#bytes, source) === 0
  }

  /** Determines encoding, size and hash, once. Yields to the event loop after each piece. */
  hash(): Promise<void> {
    this.#hashing ??= this.#hash()
    return this.#hashing
  }

  async #hash(): Promise<void> {
    for (const form of encodings) if (await this.#hashAs(form)) return
  }

  async #hashAs(form: BlobEncoding): Promise<boolean> {
    this.#encoding = form
    this.size = 0
    const hash = createHash('sha256')
    for (let index = 0; ; index++) {
      const piece = this.piece(index)
      if (this.#bytes === undefined && Buffer.from(piece).toString(form) !== this.#part(index)) return false
      if (piece.length === 0) break
      // Base64 with padding at the end of an earlier piece makes that piece short, and only the last piece may be short.
      if (this.size < index * pieceSize) return false
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
    return { digest, size, form: this.#encoding, ...(head !== '' && { head }), ...(this.#isUrl && { url: true }) }
  }

  #part(index: number): string {
    const length = charactersPerPiece[this.#encoding]
    return this.#text.slice(index * length, (index + 1) * length)
  }
}

/** Copies that are still in memory. A run stores the same image when it begins, after each step, and when it ends. */
export type BlobSourceCache = WeakMap<Uint8Array, WeakRef<BlobSource>>

/** Serializes values, and collects the bytes that are stored as blobs. */
export class BlobExtractor {
  readonly #cache: BlobSourceCache
  readonly #sources = new Map<unknown, BlobSource>()

  constructor(cached: BlobSourceCache) {
    this.#cache = cached
  }

  /** Serializes the value now, so later changes have no effect. @throws AlliumError `state.invalid` if it cannot be serialized */
  serialize(value: unknown): ExtractedText {
    if (isJson(value, 0)) return { text: JSON.stringify(value), sources: [] }
    const blobs: BlobSource[] = []
    const serialize = toJson(value, (inner) => {
      const blob = isBlob(inner) ? this.#sourceOf(inner) : undefined
      return blob && blobs.push(blob) - 1
    })
    return { text: serialize, sources: blobs }
  }

  get cuts(): BlobSource[] {
    return [...this.#sources.values()]
  }

  /** Returns the first copy that was taken of a source. */
  #sourceOf(source: Uint8Array | string | URL): BlobSource {
    const cached = this.#sources.get(source)
    if (cached !== undefined) return cached
    const blob = source instanceof Uint8Array ? this.#cachedSourceOf(source) : new BlobSource(source)
    this.#sources.set(source, blob)
    return blob
  }

  #cachedSourceOf(source: Uint8Array): BlobSource {
    const cached = this.#cache.get(source)?.deref()
    if (cached?.equals(source)) return cached
    const blob = new BlobSource(source)
    this.#cache.set(source, new WeakRef(blob))
    return blob
  }
}

/** Hashes all blobs that an extractor collected, and names them for the store. */
export async function nameBlobs(
  extractor: BlobExtractor,
  toName: (sha256: string) => Promise<string>,
): Promise<{ sources: BlobSources; toDigest: (source: BlobSource) => string }> {
  const names = new Map<BlobSource, string>()
  for (const source of extractor.cuts) {
    await source.hash()
    names.set(source, await toName(source.sha256))
  }
  return {
    sources: new Map([...names].map(([source, digest]) => [digest, source])),
    toDigest: (source) => names.get(source) ?? '',
  }
}

/** The blobs of a row, by digest. */
export type BlobSources = ReadonlyMap<string, BlobSource>

/** A reference in `text` is an index of `sources`. */
export interface ExtractedText {
  readonly text: string
  readonly sources: readonly BlobSource[]
}

/** Returns the text of a row: a line with the references, if there are any, and the value. */
export function toRowText({ text, sources }: ExtractedText, toDigest: (source: BlobSource) => string): string {
  if (sources.length === 0) return text
  return `${head}${JSON.stringify(sources.map((source) => source.reference(toDigest(source))))}}\n${text}`
}

/** `toJson` never writes this for a value, because it escapes keys that begin with `$`. */
const head = '{"$blobs":'

/** Splits the text of a row into references and value. */
export function parseRowText(row: string): { text: string; references: readonly BlobReference[] } {
  if (!row.startsWith(head)) return { text: row, references: [] }
  const end = row.indexOf('\n')
  return { text: row.slice(end + 1), references: JSON.parse(row.slice(head.length, end - 1)) }
}
