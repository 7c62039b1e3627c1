import { createHash } from 'node:crypto'
import { AlliumError, fromJson, isAlliumError, messageOf, toJson } from '@allium/core'
import type { BlobOwner } from './blobs/blob-table.ts'
import type { KnownCuts } from './blobs/cut.ts'
import type { Encrypt, SealedPlace } from './encrypt.ts'

/** Values as bytes of a row and back, sealed where the store encrypts. */
export class Sealer {
  readonly #encrypt: Encrypt | undefined
  readonly cuts: KnownCuts = new WeakMap()
  /** Whether the blob of a name opens, or does not exist. The store of blobs sets it. */
  opensBlob: (of: BlobOwner, name: string) => Promise<boolean> = async () => true

  constructor(encrypt?: Encrypt) {
    this.#encrypt = encrypt
  }

  /** Whether bytes are sealed at all. */
  get encrypts(): boolean {
    return this.#encrypt !== undefined
  }

  /** @throws AlliumError `state.invalid` where the value cannot be kept */
  async seal(value: unknown, place: SealedPlace): Promise<Uint8Array> {
    return this.sealText(toJson(value), place)
  }

  /** Seals the text of a row. */
  sealText(text: string, place: SealedPlace): Uint8Array | Promise<Uint8Array> {
    return this.sealedBytes(encoder.encode(text), place)
  }

  /** Seals bytes without serializing them. Synchronous if the store does not encrypt. */
  sealedBytes(bytes: Uint8Array, place: SealedPlace): Uint8Array | Promise<Uint8Array> {
    return this.#encrypt === undefined ? bytes : sealedBy(this.#encrypt, bytes, place)
  }

  /**
   * Returns the value of a row. Synchronous if the store does not encrypt.
   *
   * @throws AlliumError `store.sealed` when the key is gone or the bytes do not authenticate, `store.corrupt` when the opened bytes do not
   * parse, `store.unavailable` when the bytes cannot be opened now
   */
  open(bytes: Uint8Array, place: SealedPlace): unknown {
    const text = this.text(bytes, place)
    return typeof text === 'string' ? parsed(text, place) : text.then((own) => parsed(own, place))
  }

  /** Opens bytes that `sealedBytes` sealed. Synchronous if the store does not encrypt. */
  openedBytes(bytes: Uint8Array, place: SealedPlace): Uint8Array | Promise<Uint8Array> {
    return this.#encrypt === undefined ? bytes : this.#opened(this.#encrypt, bytes, place)
  }

  /** Opens a text that `sealText` sealed. Synchronous if the store does not encrypt. */
  text(bytes: Uint8Array, place: SealedPlace): string | Promise<string> {
    const plain = this.openedBytes(bytes, place)
    return plain instanceof Uint8Array ? textOf(plain, place) : plain.then((own) => textOf(own, place))
  }

  /** Digests of a text by which it is found again: the first is written, any matches. */
  async digests(text: string, tenant: string): Promise<string[]> {
    const bytes = new TextEncoder().encode(text)
    const made = (await this.#encrypt?.mac?.(bytes, { tenant })) ?? (await sha256(bytes))
    const all = made instanceof Uint8Array ? [made] : [...made]
    return all.map((one) => Buffer.from(one).toString('base64url'))
  }

  /**
   * Returns the name of a blob: its SHA-256, or with `mac` a keyed digest over the owner and the SHA-256. The blob gets another name
   * if there are bytes under its own that today's key does not open. They stay, because a process with a wrong key may ask.
   */
  async nameOf(sha256: string, { tenant, owner }: BlobOwner): Promise<string> {
    if (this.#encrypt === undefined) return sha256
    const text = JSON.stringify([owner, sha256])
    const name = this.#encrypt.mac === undefined ? sha256 : ((await this.digests(text, tenant))[0] ?? '')
    for (let n = 0, own = name; ; own = `${name}.${++n}`) if (await this.opensBlob({ tenant, owner }, own)) return own
  }

  async #opened(encrypt: Encrypt, bytes: Uint8Array, place: SealedPlace): Promise<Uint8Array> {
    try {
      return await encrypt.open(bytes, place)
    } catch (cause) {
      throw isFinal(cause) ? sealed(place, cause) : unopened(place, cause)
    }
  }
}

/** Whether an error of `Encrypt.open` is a fact about the bytes. All others may pass: a key service that is down, a timeout. */
function isFinal(error: unknown): boolean {
  if (isAlliumError(error)) return error.code === 'store.sealed'
  const { name, message } = (error ?? {}) as { name?: unknown; message?: unknown }
  // How WebCrypto and `node:crypto` report bytes that do not authenticate.
  return name === 'OperationError' || message === 'Unsupported state or unable to authenticate data'
}

function sealed({ tenant, row }: SealedPlace, cause: unknown): AlliumError {
  return new AlliumError(
    'store.sealed',
    `The row ${row} of the tenant "${tenant}" cannot be opened: its key is gone, or the row was changed. Bring the key back, or delete the session.`,
    { cause, details: { tenant, row } },
  )
}

function unopened({ tenant, row }: SealedPlace, cause: unknown): AlliumError {
  return new AlliumError(
    'store.unavailable',
    `The row ${row} of the tenant "${tenant}" cannot be opened now: ${messageOf(cause).replace(/\.?$/, '.')} Nothing was changed. Check the key service that "encrypt" uses, and try again.`,
    { cause, details: { tenant, row } },
  )
}

async function sealedBy(encrypt: Encrypt, bytes: Uint8Array, place: SealedPlace): Promise<Uint8Array> {
  return encrypt.seal(bytes, place)
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

function parsed(text: string, place: SealedPlace): unknown {
  try {
    return fromJson(text)
  } catch (error) {
    throw corrupt(place, error)
  }
}

function textOf(bytes: Uint8Array, place: SealedPlace): string {
  try {
    return decoder.decode(bytes)
  } catch (error) {
    throw corrupt(place, error)
  }
}

/** What was kept at a place does not parse. */
export function corrupt({ tenant, row }: SealedPlace, cause: unknown): AlliumError {
  return new AlliumError(
    'store.corrupt',
    `The row ${row} of the tenant "${tenant}" does not parse: ${messageOf(cause)} The others go on.`,
    { cause, details: { tenant, row } },
  )
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  return createHash('sha256').update(bytes).digest()
}
