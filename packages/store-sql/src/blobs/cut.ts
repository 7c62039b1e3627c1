import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { toJson } from '@allium/core'

/** Bytes and base64 from this size on are stored beside the row. */
const least = 4096

/** Bytes of a piece: less than 256 kB, and a multiple of 3 and 2, so that the text of a piece begins and ends with it. */
export const pieceSize = 262_140

/** How a text is written as bytes. The first form that gives the same text again is used. */
const forms = ['base64', 'latin1', 'utf16le'] as const
type Form = (typeof forms)[number]
const characters: Readonly<Record<Form, number>> = {
  base64: (pieceSize / 3) * 4,
  latin1: pieceSize,
  utf16le: pieceSize / 2,
}

/** What a row has in place of bytes. */
export interface BlobReference {
  readonly digest: string
  /** Bytes. */
  readonly size: number
  /** The value is a text, which is made of the bytes like this. */
  readonly form?: Form
  /** The text begins with this: the head of a data URL. */
  readonly head?: string
  /** The value is the URL of that text. */
  readonly url?: true
}

/** Bytes that are stored beside the row, of a value that nobody changes any more. */
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

  /** Empty behind the last one. */
  piece(at: number): Uint8Array {
    if (this.#bytes !== undefined) return this.#bytes.subarray(at * pieceSize, (at + 1) * pieceSize)
    return Buffer.from(this.#part(at), this.#form)
  }

  /** Whether it is the copy of bytes as they are now. */
  isOf(source: Uint8Array): boolean {
    return this.#bytes !== undefined && Buffer.compare(this.#bytes, source) === 0
  }

  /** Finds the form, the size and the hash, once; other work gets its turn between two pieces. */
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

/** The copies of bytes that are still in memory: a run stores the same image when it begins, with each step, and when it ends. */
export type KnownCuts = WeakMap<Uint8Array, WeakRef<Cut>>

/** Values as texts, with what was cut out of them. */
export class Cutter {
  readonly #known: KnownCuts
  readonly #cuts = new Map<unknown, Cut>()

  constructor(known: KnownCuts) {
    this.#known = known
  }

  /** Takes a copy of the value now. @throws AlliumError `state.invalid` where it cannot be kept */
  text(value: unknown): CutText {
    const cuts: Cut[] = []
    const text = toJson(value, (inner) => {
      const cut = isLarge(inner) ? this.#cutOf(inner) : undefined
      return cut && cuts.push(cut) - 1
    })
    return { text, cuts }
  }

  get cuts(): Cut[] {
    return [...this.#cuts.values()]
  }

  /** The copy that was taken of it first. */
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

/** What was cut out, by the digests that name it in the store. */
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

/** What rows refer to, by its digest. */
export type Cuts = ReadonlyMap<string, Cut>

/** Where the text has a number as a reference, it is the place in `cuts`. */
export interface CutText {
  readonly text: string
  readonly cuts: readonly Cut[]
}

function isLarge(value: string | object): value is Uint8Array | string | URL {
  if (value instanceof Uint8Array) return value.length >= least
  const text = typeof value === 'string' ? value : value instanceof URL ? value.href : ''
  // What only looks like base64 is written exactly as well.
  return text.length >= least && /^(?:data:|[\w+/-]{64})/.test(text)
}

/** The text of a row: references first, in a line of their own, where there are any. */
export function rowText({ text, cuts }: CutText, digestOf: (cut: Cut) => string): string {
  if (cuts.length === 0) return text
  return `${head}${JSON.stringify(cuts.map((cut) => cut.reference(digestOf(cut))))}}\n${text}`
}

/** No value is written like this: a key that begins with `$` gets another one. */
const head = '{"$blobs":'

/** The same taken apart. */
export function partsOfRow(row: string): { text: string; references: readonly BlobReference[] } {
  if (!row.startsWith(head)) return { text: row, references: [] }
  const end = row.indexOf('\n')
  return { text: row.slice(end + 1), references: JSON.parse(row.slice(head.length, end - 1)) }
}
