import { setImmediate } from 'node:timers/promises'
import {
  AlliumError,
  type FilePart,
  fromJson,
  isAlliumError,
  type Lease,
  type Message,
  type SessionKey,
} from '@allium/core'
import { filesIn, StoredFile } from '@allium/store'
import type { EncryptionContext } from '../encryption.ts'
import { corrupt, type Sealer } from '../sealer.ts'
import { type BlobReference, type BlobSource, type BlobSources, parseRowText, pieceSize } from './blob-extractor.ts'
import type { BlobOwner, BlobTable, BlobWrite } from './blob-table.ts'

/** Garbage collection steps per write. The limit keeps a write from cleaning up everything that other sessions left. */
const collectStepsPerWrite = 8

/** How often a row is read if its blobs are deleted meanwhile. */
const maxReadAttempts = 3

type FileData = FilePart['data']

/** Returns the files of a value. */
export type FilesOf = (value: unknown) => readonly { readonly data: FileData }[]

export const filesOfMessages: FilesOf = (messages) => (messages as Message[]).flatMap(({ content }) => filesIn(content))

/** Stores bytes apart from the rows that refer to them. */
export class Blobs {
  readonly #table: BlobTable
  readonly #sealer: Sealer

  constructor(table: BlobTable, sealer: Sealer) {
    this.#table = table
    this.#sealer = sealer
    sealer.opensBlob = (owner, digest) => this.#opens(owner, digest)
  }

  /**
   * Writes the missing pieces, then the row that refers to them.
   *
   * @param by the writer's lease; only the key while a durable run is added, with the run for its events
   * @param commit writes the row and makes it the holder of the blobs, in one transaction
   */
  async write<T>(
    { key, token, turnId }: (Lease & { turnId?: undefined }) | { key: SessionKey; token?: undefined; turnId?: string },
    sources: BlobSources,
    commit: (write: BlobWrite | undefined) => Promise<T>,
  ): Promise<T> {
    if (sources.size === 0) return commit(undefined)
    const write = { key, token, turnId, id: crypto.randomUUID(), digests: [...sources.keys()] }
    try {
      await this.collect(collectStepsPerWrite)
      const storedPieces = await this.#table.hold(write)
      // If the lease was lost, `commit` throws, unless the same row was stored before.
      if (storedPieces !== undefined)
        for (const [i, [digest, source]] of [...sources].entries())
          await this.#addPieces(write, digest, source, storedPieces[i] ?? 0)
      return await commit(write)
    } catch (error) {
      await this.drop(write).catch(() => {})
      throw error
    }
  }

  async #opens(owner: BlobOwner, digest: string): Promise<boolean> {
    const body = await this.#table.piece(owner, digest, 0)
    try {
      if (body !== undefined) await this.#sealer.openBytes(body, blobContext(owner, digest, 0))
      return true
    } catch (error) {
      if (isAlliumError(error, 'store.sealed')) return false
      throw error
    }
  }

  /** Releases the blobs of a write that failed or was refused, and deletes those that nothing else holds. */
  async drop(write: BlobWrite): Promise<void> {
    await this.#table.rollback(write)
    await this.collect()
  }

  async #addPieces(write: BlobWrite, digest: string, source: BlobSource, firstPiece: number): Promise<void> {
    for (let index = firstPiece; index < source.pieces; index++) {
      const body = await this.#sealer.sealBytes(source.piece(index), blobContext(write.key, digest, index))
      if (!(await this.#table.add(write, digest, index, body))) return
    }
  }

  /** Deletes blobs that have no holder, in at most this number of steps. */
  async collect(steps = Number.POSITIVE_INFINITY): Promise<void> {
    for (let remaining = steps; remaining > 0 && (await this.#table.collect()); remaining--) await setImmediate()
  }

  /**
   * Returns the value of a row. Synchronous if the row has no blobs and the encryption is.
   *
   * @param filesOf returns the files of the value. Their blobs become {@link StoredFile}s, and only the others are read
   * @throws AlliumError as {@link Sealer.open} does; `store.corrupt` if bytes are missing
   */
  open(owner: BlobOwner, bytes: Uint8Array, context: EncryptionContext, filesOf?: FilesOf): unknown {
    const row = this.#sealer.openText(bytes, context)
    return typeof row === 'string'
      ? this.#value(owner, row, context, filesOf)
      : row.then((own) => this.#value(owner, own, context, filesOf))
  }

  #value(owner: BlobOwner, row: string, context: EncryptionContext, filesOf?: FilesOf): unknown {
    try {
      const { text, references } = parseRowText(row)
      return references.length === 0 ? fromJson(text) : this.#withBlobs(owner, text, references, context, filesOf)
    } catch (error) {
      throw corrupt(context, error)
    }
  }

  async #withBlobs(
    owner: BlobOwner,
    text: string,
    references: readonly BlobReference[],
    context: EncryptionContext,
    filesOf: FilesOf | undefined,
  ): Promise<unknown> {
    const values: unknown[] = references.map((reference) => new StoredFile(() => this.#read(owner, reference)))
    const parse = () => {
      try {
        return fromJson(text, (index) => values[index as number])
      } catch (error) {
        throw corrupt(context, error)
      }
    }
    const unread = new Set<unknown>(filesOf?.(parse()).map(({ data }) => data))
    for (const [index, reference] of references.entries())
      if (!unread.has(values[index])) values[index] = await this.#read(owner, reference)
    return parse()
  }

  async #read(owner: BlobOwner, { digest, size, form, head = '', url }: BlobReference): Promise<FileData> {
    const bytes = new Uint8Array(form === undefined ? size : 0)
    let text = head
    let length = 0
    for (let index = 0; index * pieceSize < size; index++) {
      const context = blobContext(owner, digest, index)
      const body = await this.#table.piece(owner, digest, index)
      const piece = body && (await this.#sealer.openBytes(body, context))
      length += piece?.length ?? 0
      if (piece === undefined || (length < size && piece.length !== pieceSize) || length > size)
        throw missingBlobError(context)
      if (form === undefined) bytes.set(piece, index * pieceSize)
      else text += Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString(form)
      await setImmediate()
    }
    if (form === undefined) return bytes
    return url ? new URL(text) : text
  }
}

/** Retries a read whose blobs were deleted meanwhile, for example because a session was deleted or an open run was stored again. */
export async function retryRead<T>(read: () => Promise<T>): Promise<T> {
  for (let remaining = maxReadAttempts; ; remaining--)
    try {
      return await read()
    } catch (error) {
      if (remaining <= 1 || !isAlliumError(error, 'store.corrupt') || error.details?.missing !== true) throw error
    }
}

function missingBlobError({ tenant, row }: EncryptionContext): AlliumError {
  return new AlliumError(
    'store.corrupt',
    `Bytes of the tenant "${tenant}" that a message refers to are missing or damaged: ${row}. Restore them from a backup, or delete the session.`,
    { details: { tenant, row, missing: true } },
  )
}

function blobContext({ tenant, owner }: BlobOwner, digest: string, piece: number): EncryptionContext {
  return { tenant, row: JSON.stringify(['blob', owner, digest, piece]) }
}
