import { createHash } from 'node:crypto'
import { AlliumError, fromJson, isAlliumError, messageOf } from '@allium/core'
import { eventText } from '@allium/store'
import type { BlobSourceCache } from './blobs/blob-extractor.ts'
import type { BlobOwner } from './blobs/blob-table.ts'
import type { Encryption, EncryptionContext } from './encryption.ts'

/** Converts values to bytes of a row and back; encrypted if the store encrypts. */
export class Sealer {
  readonly #encrypt: Encryption | undefined
  readonly sourceCache: BlobSourceCache = new WeakMap()
  /** Whether the blob of a name can be opened, or does not exist. The blob store sets it. */
  opensBlob: (of: BlobOwner, name: string) => Promise<boolean> = async () => true

  constructor(encrypt?: Encryption) {
    this.#encrypt = encrypt
  }

  /** Whether the store encrypts. */
  get encrypts(): boolean {
    return this.#encrypt !== undefined
  }

  /** @throws AlliumError `state.invalid` when the value cannot be serialized */
  async seal(value: unknown, context: EncryptionContext): Promise<Uint8Array> {
    return this.sealText(eventText(value), context)
  }

  /** Seals the text of a row. */
  sealText(text: string, context: EncryptionContext): Uint8Array | Promise<Uint8Array> {
    return this.sealBytes(encoder.encode(text), context)
  }

  /** Seals bytes without serializing them. Synchronous if the store does not encrypt. */
  sealBytes(bytes: Uint8Array, context: EncryptionContext): Uint8Array | Promise<Uint8Array> {
    return this.#encrypt === undefined ? bytes : sealWith(this.#encrypt, bytes, context)
  }

  /**
   * Returns the value of a row. Synchronous if the encryption is.
   *
   * @throws AlliumError `store.sealed` when the key is gone or the bytes do not authenticate, `store.corrupt` when the opened bytes do not
   * parse, `store.unavailable` when the bytes cannot be opened now
   */
  open(bytes: Uint8Array, context: EncryptionContext): unknown {
    const opened = this.openText(bytes, context)
    return typeof opened === 'string' ? parsed(opened, context) : opened.then((text) => parsed(text, context))
  }

  /** Opens bytes that `sealBytes` sealed. Synchronous if the encryption is. */
  openBytes(bytes: Uint8Array, context: EncryptionContext): Uint8Array | Promise<Uint8Array> {
    return this.#encrypt === undefined ? bytes : openWith(this.#encrypt, bytes, context)
  }

  /** Opens a text that `sealText` sealed. Synchronous if the encryption is. */
  openText(bytes: Uint8Array, context: EncryptionContext): string | Promise<string> {
    const opened = this.openBytes(bytes, context)
    return opened instanceof Uint8Array ? decodeText(opened, context) : opened.then((text) => decodeText(text, context))
  }

  /** Returns the digests by which a text is found: the first is written, any matches. */
  async digests(text: string, tenant: string): Promise<string[]> {
    const bytes = encoder.encode(text)
    const macs = (await this.#encrypt?.mac?.(bytes, { tenant })) ?? createHash('sha256').update(bytes).digest()
    const all = macs instanceof Uint8Array ? [macs] : [...macs]
    return all.map((one) => Buffer.from(one).toString('base64url'))
  }

  /**
   * Returns the name of a blob: its SHA-256, or with `mac` a keyed digest of the owner and the SHA-256. If bytes with that name exist
   * that the current key does not open, the blob gets another name. The old bytes stay, because this process may have the wrong key.
   */
  async blobName(digest: string, { tenant, owner }: BlobOwner): Promise<string> {
    if (this.#encrypt === undefined) return digest
    const ofOwner = JSON.stringify([owner, digest])
    const first = this.#encrypt.mac === undefined ? digest : ((await this.digests(ofOwner, tenant))[0] ?? '')
    for (let n = 0, name = first; ; name = `${first}.${++n}`)
      if (await this.opensBlob({ tenant, owner }, name)) return name
  }
}

/** Whether an error of `Encryption.open` is permanent. All others may be transient: a key service that is down, a timeout. */
function isPermanent(error: unknown): boolean {
  if (isAlliumError(error)) return error.code === 'store.sealed'
  const { name, message } = (error ?? {}) as { name?: unknown; message?: unknown }
  // The errors of WebCrypto and `node:crypto` for bytes that do not authenticate.
  return name === 'OperationError' || message === 'Unsupported state or unable to authenticate data'
}

function sealed({ tenant, row }: EncryptionContext, cause: unknown): AlliumError {
  return new AlliumError(
    'store.sealed',
    `The row ${row} of the tenant "${tenant}" cannot be decrypted: its key is missing, or the row was changed. Restore the key, or delete the session.`,
    { cause, details: { tenant, row } },
  )
}

function cannotOpenNow({ tenant, row }: EncryptionContext, cause: unknown): AlliumError {
  return new AlliumError(
    'store.unavailable',
    `The row ${row} of the tenant "${tenant}" cannot be decrypted now: ${messageOf(cause).replace(/\.?$/, '.')} Nothing was changed. Check the key service that "encrypt" uses, and try again.`,
    { cause, details: { tenant, row } },
  )
}

/** Opens at once if the encryption does, so that a long history does not wait for several promises per row. */
function openWith(
  encryption: Encryption,
  bytes: Uint8Array,
  context: EncryptionContext,
): Uint8Array | Promise<Uint8Array> {
  try {
    const opened = encryption.open(bytes, plain(context))
    return opened instanceof Uint8Array ? opened : rethrown(opened, context)
  } catch (cause) {
    throw openError(context, cause)
  }
}

async function rethrown(opened: Promise<Uint8Array>, context: EncryptionContext): Promise<Uint8Array> {
  try {
    return await opened
  } catch (cause) {
    throw openError(context, cause)
  }
}

function openError(context: EncryptionContext, cause: unknown): AlliumError {
  return isPermanent(cause) ? sealed(context, cause) : cannotOpenNow(context, cause)
}

async function sealWith(encryption: Encryption, bytes: Uint8Array, context: EncryptionContext): Promise<Uint8Array> {
  return encryption.seal(bytes, plain(context))
}

/** An application may copy or serialize the context. */
function plain({ tenant, row }: EncryptionContext): EncryptionContext {
  return { tenant, row }
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

function parsed(text: string, context: EncryptionContext): unknown {
  try {
    return fromJson(text)
  } catch (error) {
    throw corrupt(context, error)
  }
}

function decodeText(bytes: Uint8Array, context: EncryptionContext): string {
  try {
    return decoder.decode(bytes)
  } catch (error) {
    throw corrupt(context, error)
  }
}

/** Returns the error for a stored row that does not parse. */
export function corrupt({ tenant, row }: EncryptionContext, cause: unknown): AlliumError {
  return new AlliumError(
    'store.corrupt',
    `The row ${row} of the tenant "${tenant}" cannot be parsed: ${messageOf(cause)} Other rows are not affected. Restore it from a backup, or delete the session.`,
    { cause, details: { tenant, row } },
  )
}
