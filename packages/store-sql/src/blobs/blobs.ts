import { setImmediate } from 'node:timers/promises'
import { AlliumError, fromJson, isAlliumError, type Lease, type SessionKey } from '@allium/core'
import type { SealedPlace } from '../encrypt.ts'
import { corrupt, type Sealer } from '../sealer.ts'
import type { BlobOwner, BlobTable, BlobWrite } from './blob-table.ts'
import { type BlobReference, type Cut, type Cuts, partsOfRow, pieceSize } from './cut.ts'

/** Steps of garbage collection per write. The limit keeps a write from waiting for everything that other sessions left. */
const fewSteps = 8

/** How often a row is read if its blobs are deleted meanwhile. */
const tries = 3

/** Stores bytes apart from the rows that refer to them. */
export class Blobs {
  readonly #table: BlobTable
  readonly #sealer: Sealer

  constructor(table: BlobTable, sealer: Sealer) {
    this.#table = table
    this.#sealer = sealer
    sealer.opensBlob = (of, digest) => this.#opens(of, digest)
  }

  /**
   * Writes the missing pieces, then the row that refers to them.
   *
   * @param by the writer's lease; only the key while a durable run is added, with the run for its events
   * @param commit writes the row and makes it the holder of the blobs, in one transaction
   */
  async write<T>(
    { key, token, turnId }: (Lease & { turnId?: undefined }) | { key: SessionKey; token?: undefined; turnId?: string },
    cuts: Cuts,
    commit: (write: BlobWrite | undefined) => Promise<T>,
  ): Promise<T> {
    if (cuts.size === 0) return commit(undefined)
    const write = { key, token, turnId, id: crypto.randomUUID(), digests: [...cuts.keys()] }
    try {
      await this.collect(fewSteps)
      const there = await this.#table.hold(write)
      // If the lease was lost, `commit` throws, unless the same row was stored before.
      if (there !== undefined)
        for (const [i, [digest, cut]] of [...cuts].entries()) await this.#add(write, digest, cut, there[i] ?? 0)
      return await commit(write)
    } catch (error) {
      await this.drop(write).catch(() => {})
      throw error
    }
  }

  async #opens(of: BlobOwner, digest: string): Promise<boolean> {
    const body = await this.#table.piece(of, digest, 0)
    try {
      if (body !== undefined) await this.#sealer.openedBytes(body, placeOf(of, digest, 0))
      return true
    } catch (error) {
      if (isAlliumError(error, 'store.sealed')) return false
      throw error
    }
  }

  /** Releases the blobs of a write that failed or was refused, and deletes those that nothing else holds. */
  async drop(write: BlobWrite): Promise<void> {
    await this.#table.drop(write)
    await this.collect()
  }

  async #add(write: BlobWrite, digest: string, cut: Cut, from: number): Promise<void> {
    for (let at = from; at < cut.pieces; at++) {
      const body = await this.#sealer.sealedBytes(cut.piece(at), placeOf(write.key, digest, at))
      if (!(await this.#table.add(write, digest, at, body))) return
    }
  }

  /** Deletes blobs that have no holder, in at most this number of steps. */
  async collect(steps = Number.POSITIVE_INFINITY): Promise<void> {
    for (let left = steps; left > 0 && (await this.#table.collect()); left--) await setImmediate()
  }

  /**
   * Returns the value of a row. Synchronous if the row has no blobs and the store does not encrypt.
   *
   * @throws AlliumError as {@link Sealer.open} does; `store.corrupt` if bytes are missing
   */
  open(of: BlobOwner, bytes: Uint8Array, place: SealedPlace): unknown {
    const row = this.#sealer.text(bytes, place)
    return typeof row === 'string' ? this.#value(of, row, place) : row.then((own) => this.#value(of, own, place))
  }

  #value(of: BlobOwner, row: string, place: SealedPlace): unknown {
    try {
      const { text, references } = partsOfRow(row)
      return references.length === 0 ? fromJson(text) : this.#withBlobs(of, text, references, place)
    } catch (error) {
      throw corrupt(place, error)
    }
  }

  async #withBlobs(of: BlobOwner, text: string, references: readonly BlobReference[], place: SealedPlace) {
    const values: unknown[] = []
    for (const reference of references) values.push(await this.#read(of, reference))
    try {
      return fromJson(text, (at) => values[at as number])
    } catch (error) {
      throw corrupt(place, error)
    }
  }

  async #read(of: BlobOwner, { digest, size, form, head = '', url }: BlobReference): Promise<unknown> {
    const bytes = new Uint8Array(form === undefined ? size : 0)
    let text = head
    let length = 0
    for (let at = 0; at * pieceSize < size; at++) {
      const place = placeOf(of, digest, at)
      const body = await this.#table.piece(of, digest, at)
      const piece = body && (await this.#sealer.openedBytes(body, place))
      length += piece?.length ?? 0
      if (piece === undefined || (length < size && piece.length !== pieceSize) || length > size) throw missing(place)
      if (form === undefined) bytes.set(piece, at * pieceSize)
      else text += Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString(form)
      await setImmediate()
    }
    if (form === undefined) return bytes
    return url ? new URL(text) : text
  }
}

/** Retries a read whose blobs were deleted meanwhile, for example because a session was deleted or an open run was stored again. */
export async function readAgain<T>(read: () => Promise<T>): Promise<T> {
  for (let left = tries; ; left--)
    try {
      return await read()
    } catch (error) {
      if (left <= 1 || !isAlliumError(error, 'store.corrupt') || error.details?.missing !== true) throw error
    }
}

function missing({ tenant, row }: SealedPlace): AlliumError {
  return new AlliumError(
    'store.corrupt',
    `Bytes of the tenant "${tenant}" that a message refers to are missing or damaged: ${row}. Restore them from a backup, or delete the session.`,
    { details: { tenant, row, missing: true } },
  )
}

function placeOf({ tenant, owner }: BlobOwner, digest: string, piece: number): SealedPlace {
  return { tenant, row: JSON.stringify(['blob', owner, digest, piece]) }
}
